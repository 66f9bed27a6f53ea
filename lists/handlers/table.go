package handlers

// Posting is what happens to an accepted post, in order. The archive gets the post
// as the list's header fields make it, without decoration.
var Posting = []Handler{
	{"validate-authenticity", validateAuthenticity, "What is known of who sent it is written down, while it is as it came."},
	{"mime-delete", mimeDelete, "The content filter: what the list does not pass on goes."},
	{"tagger", tagger, "Which of the list's topics it is about."},
	{"member-recipients", memberRecipients, "Everybody who gets each post by itself."},
	{"avoid-duplicates", avoidDuplicates, "Nobody gets a second copy who wants none."},
	{"cleanse", cleanse, "Passwords, and requests that the list must not pass on, go; on anonymous lists, who wrote it."},
	{"cleanse-dkim", cleanseDKIM, "The author's signatures go, if the list says so."},
	{"cook-headers", cookHeaders, "What RFC 5322 wants once, the loop mark, Precedence."},
	{"reply-to", replyTo, "Where answers go."},
	{"subject-prefix", subjectPrefix, "The list's prefix before the subject, once."},
	{"rfc-2369", rfc2369, "List-Id and the other List-* fields."},
	{"to-archive", toArchive, "A copy for the archive."},
	{"to-digest", toDigest, "A copy for the next digest."},
	{"dmarc", dmarc, "The list goes into From where the author's domain makes receivers refuse what we send."},
	{"decorate", decorate, "The footer."},
	{"personalise", personalise, "Each member in To of his copy, if the list says so."},
	{"one-click", oneClick, "Each member's own unsubscribe URL."},
	{"received", received, "Our trace field."},
	{"sign", sign, "The list's signatures, over everything before; on each copy, where copies differ."},
}

// Owner is what happens to mail for the owners.
var Owner = []Handler{
	{"owner-recipients", ownerRecipients, "Owners and moderators, or the site owners if there are none."},
	{"cleanse", cleanse, "Passwords, and requests that must not be passed on, go."},
	{"cook-owner", cookOwner, "What RFC 5322 wants once, the loop mark."},
	{"received", received, "Our trace field."},
	{"sign", sign, "The list's signatures: it is the list that sends the mail on."},
}

// Virgin is what happens to mail that qrunner itself wrote.
var Virgin = []Handler{
	{"notice-recipients", noticeRecipients, "Who is named, or else the owners."},
	{"cook-notice", cookNotice, "What RFC 5322 wants once, List-Id, Precedence."},
	{"sign", sign, "The list's signatures."},
}
