package main

import "strconv"

// count is a number and the word for what is counted: 1 post, 2 posts.
func count(n int, one string) string {
	if n != 1 {
		one += "s"
	}
	return strconv.Itoa(n) + " " + one
}
