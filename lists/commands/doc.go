// Package commands reads and carries out what people ask for by mail: one file for each
// command, and table.go, which says which there are. A command looks at the list's state
// and answers what shall change; nothing is changed here.
package commands
