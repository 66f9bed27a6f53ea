package simfs_test

import (
	"fmt"

	"qrunner/locking/fsys"
	"qrunner/locking/simfs"
)

// Without a Scheduler a host is an fsys.FS in memory, for any test.
func Example() {
	srv := simfs.New(simfs.Config{})
	a, b := srv.Host("a"), srv.Host("b")

	fmt.Println(fsys.MkdirAll(a, "queue/in"))
	list, err := b.ReadDir("queue")
	fmt.Println(list[0].Name, err)
	// Output:
	// <nil>
	// in <nil>
}
