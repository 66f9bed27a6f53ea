// Package templates has the texts that qrunner writes to people: one for each notice
// of Mailman 3, under Mailman's name, in several languages, and how a site, a mail
// domain or a list puts its own in their place.
//
// A template is text/template with a fence around it: it may show variables of a
// fixed set and ask whether they are empty, and nothing else, so that whoever writes
// one can neither read more than the variables nor make the text arbitrarily long.
// Values are inserted and never looked at again: template syntax in a subject or a
// name is text like any other.
//
// A template of one's own is a file on the share,
//
//	templates/lists/<list>/<language>/<name>.txt
//	templates/domains/<domain>/<language>/<name>.txt
//	templates/site/<language>/<name>.txt
//
// and the first of these counts that can be used; else the one that is built in.
package templates
