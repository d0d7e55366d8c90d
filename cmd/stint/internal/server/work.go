package server

import (
	"context"
	"errors"
	"strings"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// Work runs a worker for the tasks that handlers returns, until ctx ends and the running
// calls have finished. Unless warning is empty, Work prints it when the worker is ready.
func (c *Connection) Work(ctx context.Context, con *console.Console, warning string, handlers func(*cluster.Client) []cluster.Handler, opts ...cluster.Option) error {
	client, err := c.Await(ctx, con, cluster.Log(con.Logger()))
	if err != nil {
		return err
	}
	defer client.Close()
	var names []string
	for _, t := range handlers(client) {
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
	err = cluster.Serve(ctx, client, opts...)
	if err != nil && !errors.Is(err, context.Cause(ctx)) { // the cause: interrupted before it served
		return c.Failed(err)
	}
	return nil
}
