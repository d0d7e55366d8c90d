package embedded

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// TestCallsOfRoles has each role make each call, and wants that it works or the error of the
// server.
func TestCallsOfRoles(t *testing.T) {
	for _, u := range everybody {
		t.Run(string(u.Role), func(t *testing.T) {
			t.Parallel()
			for call, may := range map[string]string{
				"Map": "ann sue", "MapSeq": "ann sue", "Resume": "ann sue", "Serve": "ann will", "Status": "ann sue will olga",
				"Cancel": "ann sue", "Purge": "ann sue will", "DeadLetters": "ann sue will", "DropDeadLetter": "ann", "RetryDeadLetter": "ann",
			} {
				t.Run(call, func(t *testing.T) {
					t.Parallel()
					client := open(t, Listen(quiet, Users(everybody...)))
					c := &callers{client: client, root: as(t, client.URL(), "ann"), who: as(t, client.URL(), u.Name)}
					err := c.calls()[call](t)
					want := slices.Contains(strings.Fields(may), u.Name)
					refused := errors.Is(err, nats.ErrPermissionViolation)
					if want && err != nil || !want && !refused {
						t.Errorf("error: %v; want that it may: %v", err, want)
					}
				})
			}
		})
	}
}

// callers are those who make calls on one server.
type callers struct {
	client, root, who *cluster.Client
}

// calls returns each call, with what has to be there before.
func (c *callers) calls() map[string]func(*testing.T) error {
	return map[string]func(*testing.T) error{
		"Map": func(t *testing.T) error {
			c.serve(t, c.root)
			_, err := cluster.Map(t.Context(), c.who, half, []int{1})
			return err
		},
		"MapSeq": func(t *testing.T) error {
			c.serve(t, c.root)
			for _, err := range cluster.MapSeq(t.Context(), c.who, half, slices.Values([]int{1})) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Resume": func(t *testing.T) error {
			c.abandoned(t)
			c.serve(t, c.root)
			for _, err := range cluster.Resume(t.Context(), c.who, half, "run") {
				if err != nil && !errors.Is(err, cluster.ErrIncomplete) { // the run may have ended before it was noted that its item is the last
					return err
				}
			}
			return nil
		},
		"Serve": func(t *testing.T) error {
			served := c.serve(t, c.who)
			ran := make(chan error, 1)
			go func() { _, err := cluster.Map(t.Context(), c.root, half, []int{1}); ran <- err }()
			select {
			case err := <-served:
				return err
			case err := <-ran:
				return err
			}
		},
		"Status": func(t *testing.T) error { _, err := c.who.Status(t.Context()); return err },
		"Cancel": func(t *testing.T) error { c.abandoned(t); return c.who.Cancel(t.Context(), "run") },
		"Purge": func(t *testing.T) error {
			c.publish(t, "stint.result.dead.0", "of no run")
			_, err := c.who.Purge(t.Context())
			return err
		},
		"DeadLetters": func(t *testing.T) error {
			c.publish(t, "stint.dead.x.0", `{"id":"x/0"}`)
			for _, err := range c.who.DeadLetters(t.Context()) {
				return err
			}
			return nil
		},
		"DropDeadLetter": func(t *testing.T) error {
			c.publish(t, "stint.dead.x.0", `{"id":"x/0"}`)
			return c.who.DropDeadLetter(t.Context(), "x/0")
		},
		"RetryDeadLetter": func(t *testing.T) error {
			key := c.abandoned(t)
			c.publish(t, "stint.dead."+key+".1", `{"id":"`+key+`/1","task":"half/v1","input":"Mg=="}`)
			return c.who.RetryDeadLetter(t.Context(), key+"/1")
		},
	}
}

// abandoned leaves a run of one item alone, and returns its key.
func (c *callers) abandoned(t *testing.T) string {
	t.Helper()
	client, ended := as(t, c.client.URL(), "sue"), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = cluster.Map(t.Context(), client, half, []int{1}, cluster.Name("run"))
	}()
	for {
		s, err := c.root.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Runs) == 1 && s.Runs[0].Waiting == 1 {
			break
		}
	}
	s, err := c.js(t).Stream(t.Context(), "stint-tasks")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.GetLastMsgForSubject(t.Context(), "stint.task.>")
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	<-ended
	return strings.Split(m.Subject, ".")[3]
}

// serve runs a worker until the test ends.
func (c *callers) serve(t *testing.T, client *cluster.Client) <-chan error {
	served := make(chan error, 1)
	client.Handle(half)
	go func() { served <- cluster.Serve(t.Context(), client, cluster.Limit(2)) }()
	return served
}

// js is what All may do on the server itself.
func (c *callers) js(t *testing.T) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(c.client.URL(), nats.UserInfo("ann", "a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func (c *callers) publish(t *testing.T, subject, text string) {
	t.Helper()
	if _, err := c.js(t).Publish(t.Context(), subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}
