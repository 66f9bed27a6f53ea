package commands

// Verbs is what anybody may write to a list's -request address, one a line. A new verb is a file and
// a row.
var Verbs = []Verb{
	{Names: []string{"help"}, Run: help, Doc: "What can be asked for."},
	{Names: []string{"join", "subscribe"}, Args: "[digest=no|plain|mime] [address=ADDRESS]", Run: join, Doc: "Become a member."},
	{Names: []string{"leave", "unsubscribe"}, Args: "[address=ADDRESS]", Run: leave, Doc: "Stop being one."},
	{Names: []string{"confirm"}, Args: "TOKEN", Run: confirm, Doc: "Bring back the token of a mail that asked to confirm something."},
	{Names: []string{"set"}, Args: "OPTION VALUE | show", Gather: true, Run: set, Doc: "Change how mail comes: delivery on|off, digest off|plain|mime, ack on|off, myposts on|off, duplicates on|off, hide on|off, language CODE. \"set show\" shows what is set."},
	{Names: []string{"change"}, Args: "NEW-ADDRESS", Run: change, Doc: "Get the list's mail at another address. Both are asked."},
	{Names: []string{"who"}, Run: who, Doc: "Who is a member, where the list shows that."},
	{Names: []string{"info"}, Run: info, Doc: "About this list."},
	{Names: []string{"lists"}, Run: others, Doc: "The lists here."},
	{Names: []string{"echo"}, Args: "[WORDS]", Run: echo, Doc: "Say the same again, to see whether mail gets through."},
	{Names: []string{"show"}, Args: "[SETTING]", Owners: true, Run: showSettings, Doc: "The list's settings. To change one: \"set SETTING VALUE\"."},
	{Names: []string{"members"}, Owners: true, Run: members, Doc: "The whole roster."},
	{Names: []string{"add"}, Args: "[ADDRESS...]", Block: true, Owners: true, Run: add, Doc: "Put people on the roster; more of them in the lines below, one each, as \"Name <address>\" if you like, up to an empty line."},
	{Names: []string{"del", "remove"}, Args: "[ADDRESS...]", Block: true, Owners: true, Run: del, Doc: "Take people off the roster, written as for add."},
	{Names: []string{"moderate"}, Args: "ADDRESS accept|hold|reject|discard|defer|default", Owners: true, Run: moderateMember, Doc: "What becomes of somebody's posts."},
	{Names: []string{"unmoderate"}, Args: "ADDRESS", Owners: true, Run: unmoderateMember, Doc: "Let somebody post like others."},
	{Names: []string{"ban"}, Args: "ADDRESS|^REGEXP", Owners: true, Run: banAddress, Doc: "Keep somebody from posting and joining."},
	{Names: []string{"unban"}, Args: "ADDRESS|^REGEXP", Owners: true, Run: unbanAddress, Doc: "Take that back."},
	{Names: []string{"emergency"}, Args: "on|off", Owners: true, Run: emergency, Doc: "Hold every post, or no longer."},
	{Names: []string{"end", "stop"}, Stop: true, Run: end, Doc: "Read no further."},
}
