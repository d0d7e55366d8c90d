package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stint-go/stint/cluster/internal/conf"
)

// A Role is what a user of a server may do with the tasks of its engine. The server
// permits subjects, and knows nothing of runs: what a Role may do with one it may do with all.
type Role string

// The roles, and the calls that each may make. A call that a role does not permit returns the
// error of the server, after some seconds.
//
//	                          Submitter  Worker  Observer  All
//	Map, MapSeq, Resume       yes        -       -         yes
//	Cancel                    yes        -       -         yes
//	Serve                     -          yes     -         yes
//	Status                    yes        yes     in part   yes
//	Purge, ListAside          yes        yes     -         yes
//	DropAside, RetryAside     -          -       -         yes
//
// A role keeps users from mistakes, and secrets from some of them. It is no wall against a
// user who means harm. The server checks what a client publishes, and not where it asks the
// answer to be sent: everybody, an Observer too, can have an answer of the server stored in
// any stream. So they can put messages in the way of others, which are no results, tasks or
// records, and take the place of a result.
const (
	// All may do everything, also with engines of another Prefix.
	All Role = "all"

	// Submitter takes no tasks, stores no results, and neither makes nor deletes streams. It
	// can read the items and results of others, end or disturb their runs, and make a
	// consumer that keeps workers from the tasks with one name.
	Submitter Role = "submitter"

	// Worker submits nothing, and neither makes nor deletes streams. It can take any task
	// and give it any result, read items and results, and remove them.
	Worker Role = "worker"

	// Observer has a Status without what was put aside. It reads no items and no results:
	// it sees the names of runs and tasks, how many there are, and the hosts of workers.
	Observer Role = "observer"
)

// A User may connect to a server with its name and password.
type User struct {
	Name     string // of letters, digits, "-" and "_", as it is part of subjects
	Password string // itself, not a hash of it
	Role     Role   // what it may do
}

// Users lets in each of these, with what its Role permits:
// "nats://NAME:PASSWORD@host:port", or nats.UserInfo. Without TLS the passwords go over
// the network as they are. A user that is wrong, and two of one name, are errors of Open.
func Users(users ...User) Auth {
	users = slices.Clone(users)
	return func(s *settings) error {
		names := map[string]bool{}
		for _, u := range users {
			switch {
			case !conf.Plain(u.Name):
				return fmt.Errorf("Users: name %q: want letters, digits, - and _", u.Name)
			case names[u.Name]:
				return fmt.Errorf("Users: %s is there twice", u.Name)
			case !slices.Contains([]Role{All, Submitter, Worker, Observer}, u.Role):
				return fmt.Errorf("Users: role %q of %s: want all, submitter, worker or observer", u.Role, u.Name)
			}
			if err := secret("Users: password of "+u.Name, u.Password); err != nil {
				return err
			}
			names[u.Name] = true
		}
		if len(users) == 0 {
			return errors.New("Users: nobody is let in")
		}
		s.users = users
		s.user, s.password = rand.Text(), rand.Text() // of the engine, inside
		return nil
	}
}

// accounts returns the users as the server wants them, and one for the connection inside.
func (s *settings) accounts() []*server.User {
	inside := map[string]struct{}{"IN_PROCESS": {}}
	all := []*server.User{{Username: s.user, Password: s.password, AllowedConnectionTypes: inside}}
	for _, u := range s.users {
		all = append(all, &server.User{Username: u.Name, Password: u.Password, Permissions: s.permissions(u)})
	}
	return all
}

// permissions returns the subjects of a user; nil are all.
//
// What the server answers to one client goes to an inbox that has the name of its user in
// it: otherwise each could listen to what the others get, such as tasks.
func (s *settings) permissions(u User) *server.Permissions {
	prefix := s.config.Prefix
	if prefix == "" {
		prefix = "stint"
	}
	api := func(what string) string { return "$JS.API." + what }
	stream := func(what, name string) string { return api(what + "." + prefix + "-" + name) }
	own := func(subject string) string { return prefix + "." + subject }

	write := []string{
		api("INFO"), stream("STREAM.INFO", "tasks"), stream("STREAM.INFO", "results"), stream("STREAM.INFO", "runs"), stream("STREAM.INFO", "aside"), stream("STREAM.INFO", "health"),
		stream("STREAM.MSG.GET", "runs"), stream("CONSUMER.LIST", "tasks"), own("workers"), own("health"), // Status
	}
	read := []string{"_INBOX." + u.Name + ".>"}
	var answer *server.ResponsePermission
	switch u.Role {
	case All:
		return nil
	case Observer:
		return permit(write, read, nil)
	case Submitter:
		write = append(write, own("task.>"), own("run.*"),
			stream("CONSUMER.CREATE", "results.>"), stream("CONSUMER.DELETE", "results.*"), stream("CONSUMER.MSG.NEXT", "results.*"))
		read = append(read, own("full.*"))
	case Worker:
		write = append(write, own("result.>"), own("alone.>"), own("full.*"),
			stream("CONSUMER.MSG.NEXT", "tasks.*"), "$JS.ACK."+prefix+"-tasks.>")
		read = append(read, own("workers"))
		answer = &server.ResponsePermission{MaxMsgs: 1, Expires: time.Minute} // to Status
	}
	write = append(write, own("over.*"), own("aside.>"),
		stream("CONSUMER.CREATE", "tasks.>"), stream("CONSUMER.INFO", "tasks.*"),
		stream("STREAM.MSG.GET", "tasks"), stream("STREAM.MSG.GET", "results"), stream("STREAM.MSG.GET", "aside"),
		stream("STREAM.MSG.DELETE", "tasks"), stream("STREAM.MSG.DELETE", "runs"), stream("STREAM.PURGE", "results"), stream("STREAM.PURGE", "runs"))
	return permit(write, append(read, own("over.*")), answer)
}

func permit(write, read []string, answer *server.ResponsePermission) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: write},
		Subscribe: &server.SubjectPermission{Allow: read},
		Response:  answer,
	}
}
