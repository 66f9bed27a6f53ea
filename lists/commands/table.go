package commands

// Moderation is what a moderator may answer to the notice of a held post.
var Moderation = []Command{
	{"accept", false, accept, "distribute the post"},
	{"reject", true, reject, "send it back to its poster; \"reject: why\" says why"},
	{"discard", false, discard, "drop it; nobody is told"},
	{"accept always", false, acceptAlways, "distribute it, and all that this author posts from now on"},
	{"discard always", false, discardAlways, "drop it, and all that this author posts from now on"},
	{"unmoderate", false, unmoderate, "distribute it, and let this member post like others"},
	{"ban", false, ban, "drop it, and put the author on the list's ban list"},
}
