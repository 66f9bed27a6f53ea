package lists

// SettingTable is every setting of a list, with the default that a list has when
// neither itself nor its domain, site or style says otherwise. A new setting is
// a row here. Mailman's names where Mailman has the setting.
var SettingTable = []Setting{
	{"style", "default", styleName, "The set of defaults that the list starts from: default, legacy-default, legacy-announce, private-default."},
	{"display_name", "", oneLine, "Name shown in headers and notices; empty: the list's name, capitalised."},
	{"description", "", oneLine, "One line about the list, in List-Id."},
	{"info", "", text, "Longer text about the list."},
	{"subject_prefix", "", oneLine, "Put before each subject; empty: none. %d is the post's number."},
	{"footer", "", text, "Text under each post; $listname, $posting_address and $unsubscribe_address are replaced."},
	{"include_rfc2369_headers", "yes", yesNo, "Add the List-* headers (RFC 2369)."},
	{"allow_list_posts", "yes", yesNo, "Subscribers may post; no: announce-only, List-Post: NO."},
	{"advertised", "yes", yesNo, "Shown by the lists command."},
	{"default_member_action", "defer", oneOf("accept", "hold", "reject", "discard", "defer"), "What happens to a member's post."},
	{"default_nonmember_action", "hold", oneOf("accept", "hold", "reject", "discard", "defer"), "What happens to a nonmember's post."},
	{"emergency", "no", yesNo, "Hold every post."},
	{"max_message_size", "1000", between(0, 1<<30), "Largest post, in KiB, that is not held; 0: no limit."},
	{"receive_own_postings", "yes", yesNo, "Members get copies of their own posts."},
	{"personalize", "none", oneOf("none", "individual", "full"), "One copy per member (VERP) with the member's own address in it."},
	{"verp", "always", oneOf("never", "always"), "A bounce address per member on each post: one SMTP transaction per member."},
	{"archive_policy", "private", oneOf("never", "private", "public"), "Whether posts are archived."},
	{"max_days_to_hold", "90", between(0, 3650), "Held posts expire after so many days; 0: never."},
	{"repeat_window", "1d", duration, "A post that comes again within this time is dropped as a repeat."},
}
