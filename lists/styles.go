package lists

// Styles is the named sets of defaults that a list can be made with, by the
// setting "style"; the site's, the domain's and the list's own values win over
// them.
var Styles = map[string]map[string]string{
	// default is what `list create` uses: the built-in values.
	"default": {},
	"legacy-default": {
		"verp":                     "never",
		"max_message_size":         "40",
		"default_nonmember_action": "hold",
	},
	"legacy-announce": {
		"verp":                     "never",
		"max_message_size":         "40",
		"allow_list_posts":         "no",
		"default_member_action":    "hold",
		"default_nonmember_action": "reject",
	},
	"private-default": {
		"verp":             "never",
		"max_message_size": "40",
		"advertised":       "no",
		"archive_policy":   "private",
	},
}
