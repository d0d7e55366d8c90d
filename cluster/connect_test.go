package cluster

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// The inbox of a user has its name, wherever the name is given.
func TestUserInbox(t *testing.T) {
	for _, c := range []struct {
		servers []string
		user    string
		want    string
	}{
		{[]string{"nats://ann:a@h:1"}, "", "_INBOX.ann"},
		{[]string{"ann:a@h:1"}, "", "_INBOX.ann"},
		{[]string{"nats://h:1", "tls://ann:a@h:2"}, "", "_INBOX.ann"},
		{[]string{"h:1", "ann:a@h:2"}, "", "_INBOX.ann"},
		{[]string{"nats://token@h:1"}, "", ""},
		{[]string{"token@h:1"}, "", ""},
		{[]string{"h:1"}, "bob", "_INBOX.bob"},
		{[]string{"a.b:c@h:1"}, "", ""},
	} {
		o := nats.Options{Servers: c.servers, User: c.user}
		if c.user != "" {
			o.Password = "x"
		}
		if err := userInbox(&o); err != nil || o.InboxPrefix != c.want {
			t.Errorf("%v, %q: got %q, %v; want %q", c.servers, c.user, o.InboxPrefix, err, c.want)
		}
	}
}
