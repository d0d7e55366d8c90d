package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A Role says what a user of a server may do. The server checks subjects, not runs: a user
// who may do something with one run may do it with all runs.
type Role string

// The roles, and the calls that each permits. Other calls return the server's permission
// error, after some seconds.
//
//	                                  Submitter  Worker  Observer  All
//	Map, MapSeq, Resume, Cancel       yes        -       -         yes
//	Serve                             -          yes     -         yes
//	Status                            yes        yes     in part   yes
//	Purge, DeadLetters                yes        yes     -         yes
//	DropDeadLetter, RetryDeadLetter   -          -       -         yes
//
// The server checks what a user sends and receives, where the answers to the user go, and what
// the user makes JetStream create. A user can still fill the server, and keep it busy.
const (
	// All may do everything, also with other Prefixes.
	All Role = "all"

	// Submitter takes no tasks, stores no results, and neither makes nor deletes streams. It
	// can read the items and results of other users, end or disturb their runs, and make a
	// consumer that keeps the tasks of a name from workers.
	Submitter Role = "submitter"

	// Worker submits nothing, and neither makes nor deletes streams. It can take any task, give
	// it any result, and read and remove items, results and the records of runs.
	Worker Role = "worker"

	// Observer sees Status without dead letters: the names of runs and tasks, the number of
	// tasks, and the hosts of workers, but no items and results.
	Observer Role = "observer"
)

// A User may connect to a server with its name and password.
type User struct {
	Name     string // of letters, digits, "-" and "_": it is part of subjects
	Password string // the password itself, not a hash
	Role     Role
}

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// Users lets in the given users, each with the permissions of its Role. They connect by
// "nats://NAME:PASSWORD@host:port", or nats.UserInfo. Use TLS on networks that others can
// read. Open returns an error for an invalid user, and for a name that occurs twice.
func Users(users ...User) Auth {
	users = slices.Clone(users)
	return func(s *settings) error {
		names := map[string]bool{}
		for _, u := range users {
			switch {
			case u.Name == "" || strings.Trim(u.Name, nameChars) != "":
				return fmt.Errorf("Users: name %q: want letters, digits, - and _", u.Name)
			case names[u.Name]:
				return fmt.Errorf("Users: %s is there twice", u.Name)
			case !slices.Contains([]Role{All, Submitter, Worker, Observer}, u.Role):
				return fmt.Errorf("Users: role %q of %s: want all, submitter, worker or observer", u.Role, u.Name)
			}
			if err := checkSecret("Users: password of "+u.Name, u.Password); err != nil {
				return err
			}
			names[u.Name] = true
		}
		if len(users) == 0 {
			return errors.New("Users: nobody is let in")
		}
		s.users = users
		s.user, s.password = rand.Text(), rand.Text() // of the connection inside
		return nil
	}
}

// permissions returns the subjects of a user; nil means all. What each permits through the
// reply subject of a message, which the server does not check:
//
//	$JS.API.*                                        an answer of JetStream: text
//	$JS.API.CONSUMER.MSG.NEXT                        messages of the stream, and empty ones
//	$JS.ACK                                          an empty message; with the body +NXT, messages
//	task run result alone dead health                the confirmation: text
//	over full workers status                         nothing: the gate passes no reply subject on
//
// All of these stay in the account of the user (see gate), where they reach only what the user
// may send to anyway.
func permissions(u User, prefix string) *server.Permissions {
	api := func(what string) string { return "$JS.API." + what }
	stream := func(what, name string) string { return api(what + "." + prefix + "-" + name) }
	own := func(subject string) string { return prefix + "." + subject }

	write := []string{
		api("INFO"), stream("STREAM.INFO", "tasks"), stream("STREAM.INFO", "results"), stream("STREAM.INFO", "runs"), stream("STREAM.INFO", "dead"), stream("STREAM.INFO", "health"),
		stream("STREAM.MSG.GET", "runs"), stream("CONSUMER.LIST", "tasks"), own("workers"), own("health"), // Status
	}
	read := []string{nats.InboxPrefix + u.Name + ".>", own("status")}
	switch u.Role {
	case All:
		return nil
	case Observer:
		return permit(write, read)
	case Submitter:
		write = append(write, own("task.>"), own("run.*"),
			stream("CONSUMER.CREATE", "results.>"), stream("CONSUMER.DELETE", "results.*"), stream("CONSUMER.MSG.NEXT", "results.*"))
		read = append(read, own("full.*"))
	case Worker:
		write = append(write, own("result.>"), own("alone.>"), own("full.*"), own("status"),
			stream("CONSUMER.MSG.NEXT", "tasks.*"), "$JS.ACK."+prefix+"-tasks.>")
		read = append(read, own("workers"))
	}
	write = append(write, own("over.*"), own("dead.>"),
		stream("CONSUMER.CREATE", "tasks.>"), stream("CONSUMER.INFO", "tasks.*"),
		stream("STREAM.MSG.GET", "tasks"), stream("STREAM.MSG.GET", "results"), stream("STREAM.MSG.GET", "dead"),
		stream("STREAM.MSG.DELETE", "tasks"), stream("STREAM.MSG.DELETE", "runs"), stream("STREAM.PURGE", "results"), stream("STREAM.PURGE", "runs"))
	return permit(write, append(read, own("over.*")))
}

func permit(write, read []string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: write},
		Subscribe: &server.SubjectPermission{Allow: read},
	}
}
