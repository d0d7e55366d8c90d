package embedded_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

// square is a task that the Examples share.
var square = cluster.NewTask("square/v1", func(_ context.Context, n int) (int, error) { return n * n, nil })

// work serves square on e until end is called.
func work(c *cluster.Client) (end func()) {
	c.Handle(square)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, c, cluster.Limit(2)) }()
	return func() {
		stop()
		if err := <-served; err != nil {
			fmt.Println(err)
		}
	}
}

// A program that is submitter, server and worker at once: the others can move to other machines later.
func ExampleOpen() {
	double := cluster.NewTask("double/v1", func(_ context.Context, word string) (string, error) {
		return word + word, nil
	})
	c, err := embedded.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	c.Handle(double)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, c, cluster.Limit(4)) }()

	words, err := cluster.Map(ctx, c, double, []string{"can", "dum", "pom"})
	fmt.Println(words, err)

	stop() // the workers go home
	fmt.Println(<-served)
	// Output:
	// [cancan dumdum pompom] <nil>
	// <nil>
}

// Each client in memory has a server of its own.
func ExampleMemory() {
	a, err := embedded.Open(embedded.Memory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	b, err := embedded.Open() // the same: it is the default
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	fmt.Printf("%q %q\n", a.URL(), b.URL()) // nobody else reaches them
	// Output: "" ""
}

// A directory has one server at a time.
func ExampleDir() {
	dir, err := os.MkdirTemp("", "queue")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	first, err := embedded.Open(embedded.Dir(dir))
	fmt.Println(first != nil, err)

	_, err = embedded.Open(embedded.Dir(dir))
	fmt.Println(strings.ReplaceAll(err.Error(), dir, "queue"))

	fmt.Println(first.Close())
	second, err := embedded.Open(embedded.Dir(dir)) // goes on with what the first has left
	fmt.Println(second != nil, err)
	second.Close()
	// Output:
	// true <nil>
	// embedded: Dir("queue"): another server uses this directory
	// <nil>
	// true <nil>
}

// A worker in another process would do what is done with there.
func ExampleListen() {
	c, err := embedded.Open(embedded.Listen("localhost:0", nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	there, err := cluster.Connect(context.Background(), c.URL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer there.Close()
	defer work(there)()

	fmt.Println(cluster.Map(context.Background(), c, square, []int{1, 2, 3}))
	// Output: [1 4 9] <nil>
}

// Without one nobody but this machine may be let in.
func ExampleAuth() {
	_, err := embedded.Open(embedded.Listen("0.0.0.0:4222", nil))
	fmt.Println(err)
	// Output: embedded: Listen("0.0.0.0:4222"): no authentication: others can reach this address; want Token, UserPassword or Users, or a loopback address
}

func ExampleToken() {
	c, err := embedded.Open(embedded.Listen("localhost:0", embedded.Token("open sesame")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	_, err = cluster.Connect(context.Background(), c.URL())
	fmt.Println(errors.Is(err, nats.ErrAuthorization))

	there, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(nats.Token("open sesame")))
	fmt.Println(there != nil, err)
	there.Close()
	// Output:
	// true
	// true <nil>
}

func ExampleUserPassword() {
	c, err := embedded.Open(embedded.Listen("localhost:0", embedded.UserPassword("ann", "hunter2")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	there, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(nats.UserInfo("ann", "hunter2")))
	fmt.Println(there != nil, err)
	there.Close()
	// Output: true <nil>
}

// users are a submitter and a worker.
var users = []embedded.User{
	{Name: "ann", Password: "hunter2", Role: embedded.Submitter},
	{Name: "bob", Password: "letmein", Role: embedded.Worker},
}

// Each may do its part only.
func ExampleUsers() {
	c, err := embedded.Open(embedded.Listen("localhost:0", embedded.Users(users...)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	bob, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(nats.UserInfo("bob", "letmein")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bob.Close()
	defer work(bob)()
	_, err = cluster.Map(context.Background(), bob, square, []int{1, 2, 3})
	fmt.Println(errors.Is(err, nats.ErrPermissionViolation))

	ann, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(nats.UserInfo("ann", "hunter2")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ann.Close()
	fmt.Println(cluster.Map(context.Background(), ann, square, []int{1, 2, 3}))
	// Output:
	// true
	// [1 4 9] <nil>
}

// The name becomes part of subjects.
func ExampleUser() {
	carla := embedded.User{Name: "carla@example.org", Password: "pa55word", Role: embedded.All}
	_, err := embedded.Open(embedded.Listen("localhost:0", embedded.Users(carla)))
	fmt.Println(err)
	// Output: embedded: Users: name "carla@example.org": want letters, digits, - and _
}

// An observer sees who works, and no items.
func ExampleRole() {
	dora := embedded.User{Name: "dora", Password: "explorer", Role: embedded.Observer}
	c, err := embedded.Open(embedded.Listen("localhost:0", embedded.Users(dora)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	defer work(c)()

	there, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(nats.UserInfo("dora", "explorer")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer there.Close()
	s, err := there.Status(context.Background())
	for err == nil && len(s.Workers) == 0 { // it has not started
		s, err = there.Status(context.Background())
	}
	fmt.Println(len(s.Workers), s.Store == "", err)
	// Output: 1 true <nil>
}

// The address would be one of this machine, of which http://127.0.0.1:8222/healthz is asked.
func ExampleMetrics() {
	_, err := embedded.Open(embedded.Metrics(":8222"))
	fmt.Println(err)
	// Output: embedded: Metrics(":8222"): want a host and a port
}

// The certificate would come from a file, and the client would trust who signed it.
func ExampleTLS() {
	cert, trust, err := embedded.SelfSigned()
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := embedded.Open(
		embedded.Listen("127.0.0.1:0", embedded.Token("open sesame")),
		embedded.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	there, err := cluster.Connect(context.Background(), c.URL(), cluster.NATS(
		nats.Token("open sesame"), nats.Secure(&tls.Config{RootCAs: trust})))
	fmt.Println(there != nil, err)
	there.Close()
	// Output: true <nil>
}

// A server whose queue is short.
func ExampleWith() {
	c, err := embedded.Open(embedded.With(cluster.QueueLimit(100)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	defer work(c)()

	fmt.Println(cluster.Map(context.Background(), c, square, []int{1, 2, 3}))
	// Output: [1 4 9] <nil>
}

// Options that a flag of the program decides on.
func ExampleOption() {
	dir := "" // where to keep the queue
	where := embedded.Memory()
	if dir != "" {
		where = embedded.Dir(dir)
	}
	c, err := embedded.Open(where)
	fmt.Println(c != nil, err)
	c.Close()
	// Output: true <nil>
}
