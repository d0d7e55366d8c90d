package errgroup

import (
	"errors"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/lab/result"
	upstream "golang.org/x/sync/errgroup"
)

// The names of the two models.
const (
	stintName    = "stint/errgroup"
	upstreamName = "x/sync/errgroup"
)

// errLast is returned by the last task of a checked group.
var errLast = errors.New("the last task")

// A group is one of the two packages.
type group struct {
	result.Model

	// run creates a group, starts tasks, and waits for them. A limit of 0 is
	// none.
	run func(limit, tasks int, f func() error) error
}

// groups have the same code twice, so that the compiler sees the package.
var groups = []group{
	{
		result.Ours.Model(stintName, "github.com/stint-go/stint/errgroup: Group.Go"),
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
		result.Peer.Model(upstreamName, "golang.org/x/sync/errgroup: Group.Go"),
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
