package fsys

// Limited returns f with at most n calls under way at a time; further ones wait. On a
// hard mount a call may hang for minutes, and each holds a thread: without a bound
// a dead server takes the process with it (Go ends at 10,000 threads). Reads of open
// files are not counted.
func Limited(f FS, n int) FS {
	slots := make(chan struct{}, n)
	return Observed(f, Hook{
		Before: func(string, string) error { slots <- struct{}{}; return nil },
		After:  func(_, _ string, err error) error { <-slots; return err },
	})
}
