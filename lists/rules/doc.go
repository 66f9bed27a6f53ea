// Package rules has the rules that judge a post: one file each, and table.go, which
// is the order of the policy. A rule looks and never acts; lists/chains walks a table
// and says what follows.
package rules
