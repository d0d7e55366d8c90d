//go:build unix

package stint_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A recipe of docs/recipes.md: at SIGTERM or Ctrl-C the server finishes the requests that it has
// begun, and the pool the tasks that it has accepted.
func ExamplePool_Shutdown_sigterm() {
	signaled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, fail := context.WithCancelCause(signaled)

	var sent atomic.Int32
	mails := stint.NewPool(stint.Limit(2), stint.Queue(100))
	send := func(context.Context) { sent.Add(1) }
	server := &http.Server{Addr: "localhost:0", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !mails.TryGo(send) {
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
	})}
	go func() { fail(server.ListenAndServe()) }() // an address in use ends the program, too

	for range 10 {
		mails.Go(send) // as requests do
	}
	syscall.Kill(os.Getpid(), syscall.SIGTERM) // as Kubernetes does

	<-ctx.Done()
	stop()                                                                     // a second signal ends the process at once
	grace, cancel := context.WithTimeout(context.Background(), 20*time.Second) // Kubernetes waits 30
	defer cancel()
	err := server.Shutdown(grace) // first, since its handlers start tasks
	dropped, err2 := mails.Shutdown(grace)
	fmt.Println(sent.Load(), "sent,", dropped, "dropped,", errors.Join(err, err2))
	// Output: 10 sent, 0 dropped, <nil>
}

// A recipe of docs/recipes.md: at SIGTERM or Ctrl-C the worker of a queue takes no more messages,
// and finishes those that it has taken.
func Example_sigtermWorker() {
	signaled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	grace, cancel := context.WithCancel(context.Background()) // the signal does not end it
	defer cancel()
	context.AfterFunc(signaled, func() {
		stop() // a second signal ends the process at once
		time.AfterFunc(20*time.Second, cancel)
	})

	queue := make(chan string, 3)
	queue <- "pay 5"
	queue <- "pay 7"
	queue <- "pay 9"
	messages := stream.Generate(func(ctx context.Context, emit func(string) bool) error {
		for {
			select {
			case m := <-queue: // as from the client of a queue
				if !emit(m) {
					return nil
				}
			case <-signaled.Done():
				return nil // no error: what was taken is handled
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	handle := func(_ context.Context, m string) (string, error) {
		if m == "pay 9" {
			syscall.Kill(os.Getpid(), syscall.SIGTERM) // as Kubernetes does
		}
		return m, nil
	}
	for m, err := range stream.ParMap(messages, handle, stint.Limit(8)).All(grace) {
		if err != nil {
			fmt.Println(err) // what has not been acknowledged comes again
			break
		}
		fmt.Println(m, "is acknowledged")
	}
	// Output:
	// pay 5 is acknowledged
	// pay 7 is acknowledged
	// pay 9 is acknowledged
}
