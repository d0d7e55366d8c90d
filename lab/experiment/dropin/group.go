package dropin

import (
	"errors"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/lab/result"
	upstream "golang.org/x/sync/errgroup"
)

// The names of the two models.
const (
	ours   = "stint/errgroup"
	theirs = "x/sync/errgroup"
)

// errLast is what the last task of a group that is checked returns.
var errLast = errors.New("the last task")

// A group is one of the two packages.
type group struct {
	result.Model

	// run makes a group, starts tasks, and waits for them. A limit of 0 is none.
	run func(limit, tasks int, f func() error) error
}

// groups are the two. Both have the same code, so that the compiler sees which
// package it is for.
var groups = []group{
	{
		result.Model{Name: ours, Kind: result.Ours, Doc: "github.com/stint-go/stint/errgroup: Group.Go"},
		func(limit, tasks int, f func() error) error {
			var g errgroup.Group
			if limit > 0 {
				g.SetLimit(limit)
			}
			for range tasks {
				g.Go(f)
			}
			return g.Wait()
		},
	},
	{
		result.Model{Name: theirs, Kind: result.Peer, Doc: "golang.org/x/sync/errgroup: Group.Go"},
		func(limit, tasks int, f func() error) error {
			var g upstream.Group
			if limit > 0 {
				g.SetLimit(limit)
			}
			for range tasks {
				g.Go(f)
			}
			return g.Wait()
		},
	},
}
