// Package errgroup has the names of golang.org/x/sync/errgroup.
package errgroup

type Group struct{}

func (g *Group) Go(f func() error) {}
func (g *Group) SetLimit(n int)    {}
func (g *Group) Wait() error       { return nil }
