package spool_test

import (
	"fmt"
	"os"

	"github.com/stint-go/stint/cmd/stint/internal/spool"
)

// Jobs that run at the same time are printed in order. The first is printed as it goes.
func ExampleSpool() {
	warn := func(err error) { fmt.Fprintln(os.Stderr, err) }
	s := spool.New(64<<20, 100, "", warn)
	defer s.Close()

	stuck := func() {} // the first will be printed in any case
	first, second := s.NewBuffer(stuck), s.NewBuffer(stuck)
	ended := make(chan struct{})
	go func() {
		fmt.Fprintln(second, "second")
		fmt.Fprintln(first, "first")
		close(ended)
	}()
	first.Direct(os.Stdout)
	<-ended
	second.Direct(os.Stdout)
	// Output:
	// first
	// second
}
