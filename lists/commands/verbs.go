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
	{Names: []string{"end", "stop"}, Stop: true, Run: end, Doc: "Read no further."},
}
