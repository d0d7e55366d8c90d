package server

import (
	"context"
	"errors"
	"strings"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// Work runs a worker for tasks, until ctx ends and the running calls have finished. jobs
// limits the calls that run concurrently; 0 is the adaptive limit. Unless warning is
// empty, Work prints it when the worker is ready.
func (c *Connection) Work(ctx context.Context, con *console.Console, jobs int, warning string, tasks ...cluster.Handler) error {
	client, err := c.Await(ctx, con, cluster.Log(con.Logger()))
	if err != nil {
		return err
	}
	defer client.Close()
	var names []string
	for _, t := range tasks {
		client.Handle(t)
		names = append(names, t.Name())
	}
	con.Message("working for " + c.Public() + ": " + strings.Join(names, " "))
	if warning != "" {
		con.Message("WARNING: " + warning)
	}
	stop := context.AfterFunc(ctx, func() {
		con.Message("finishing running tasks; a second interrupt ends them at once")
	})
	defer stop()
	var opts []cluster.Option
	if jobs > 0 {
		opts = append(opts, cluster.Limit(jobs))
	}
	err = cluster.Serve(ctx, client, opts...)
	if err != nil && !errors.Is(err, context.Cause(ctx)) { // the cause: interrupted before it served
		return c.Failed(err)
	}
	return nil
}
