package lists

// Styles is the named sets of defaults that a list can be made with, by the
// setting "style"; the site's, the domain's and the list's own values win over
// them. The three with Mailman's names have Mailman's values.
var Styles = map[string]map[string]string{
	// default is what `list create` uses: the built-in values.
	"default": {},
	// untouched is more than defaults: whatever else is set, the handlers change nothing
	// that an author signed (Settings.Untouched).
	"untouched": {},
	"legacy-default": {
		"verp_delivery_interval":   "0",
		"max_message_size":         "40",
		"admin_immed_notify":       "yes",
		"respond_to_post_requests": "yes",
		"bounce_matching_headers":  suspicious,
	},
	"legacy-announce": {
		"verp_delivery_interval":   "0",
		"max_message_size":         "40",
		"admin_immed_notify":       "yes",
		"respond_to_post_requests": "yes",
		"bounce_matching_headers":  suspicious,
		"allow_list_posts":         "no",
		"default_member_action":    "hold",
		"default_nonmember_action": "reject",
	},
	"private-default": {
		"verp_delivery_interval":   "0",
		"max_message_size":         "40",
		"admin_immed_notify":       "yes",
		"respond_to_post_requests": "yes",
		"bounce_matching_headers":  suspicious,
		"advertised":               "no",
		"archive_policy":           "private",
	},
}

// suspicious is what Mailman looks for in every list that is made.
const suspicious = "to: friend@public\\.com\nmessage-id: relay\\.comanche\\.denmark\\.eu\nfrom: list@listme\\.com\nfrom: .*@uplinkpro\\.com\n"
