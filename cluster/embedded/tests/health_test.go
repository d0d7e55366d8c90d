package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// Status says whether the server stores messages, and leaves none.
func TestHealth(t *testing.T) {
	t.Parallel()
	where := newServer(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	client, c := connect(t, where), look(t, where)
	s, err := client.Status(bounded(t))
	if err != nil || s.Store != "" {
		t.Errorf("Status = %+v, %v; want that it stores", s, err)
	}
	c.nothingLeft(t)
	for i := 0; err == nil; i++ {
		_, err = c.js.Publish(bounded(t), fmt.Sprint("stint.result.run.", i), make([]byte, 1<<18))
	}
	s, err = client.Status(bounded(t))
	if err != nil || !strings.Contains(s.Store, "insufficient resources") {
		t.Errorf("Status = %+v, %v; want that it is full", s, err)
	}
}

// An observer has its Status, without dead letters.
func TestObserverSeesNoItems(t *testing.T) {
	t.Parallel()
	where := newServer(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "ann", Password: "a"}, {Username: "olga", Password: "o", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: []string{"$JS.API.STREAM.MSG.GET.stint-dead"}},
		}}}
	})
	ann := connect(t, strings.Replace(where, "//", "//ann:a@", 1))
	if _, err := look(t, strings.Replace(where, "//", "//ann:a@", 1)).js.Publish(bounded(t), "stint.dead.run.0", []byte(`{"id":"run/0"}`)); err != nil {
		t.Fatal(err)
	}
	s, err := ann.Status(bounded(t))
	if err != nil || len(s.DeadLetters) != 1 {
		t.Errorf("Status = %+v, %v; want one dead letter", s, err)
	}
	s, err = connect(t, strings.Replace(where, "//", "//olga:o@", 1)).Status(bounded(t))
	if err != nil || len(s.DeadLetters) != 0 {
		t.Errorf("Status = %+v, %v; want none for who may not read it", s, err)
	}
}
