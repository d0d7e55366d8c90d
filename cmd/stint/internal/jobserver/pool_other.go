//go:build !unix

package jobserver

import "context"

// A Pool is the pipe of a jobserver. There is none here.
type Pool struct{}

// Open returns an error.
func Open(string) (*Pool, error) { return nil, ErrNone }

func openFIFO(string) (*Pool, error)     { return nil, ErrSystem }
func makeFIFO(string) error              { return ErrSystem }
func inheritable(string) ([2]int, error) { return [2]int{}, ErrSystem }

// Take returns an error.
func (*Pool) Take(context.Context) (byte, error) { return 0, ErrSystem }

// Put returns an error.
func (*Pool) Put(...byte) error { return ErrSystem }

// Len returns 0.
func (*Pool) Len() int { return 0 }

// Close does nothing.
func (*Pool) Close() {}

func (*Pool) wait(context.Context, func() bool) error { return ErrSystem }
func (*Pool) try() (byte, bool)                       { return 0, false }
