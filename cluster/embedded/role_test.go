package embedded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// everybody are users of each role.
var everybody = []User{{"ann", "a", All}, {"sue", "s", Submitter}, {"will", "w", Worker}, {"olga", "o", Observer}}

// as connects as one of everybody.
func as(t *testing.T, where, name string) *cluster.Client {
	t.Helper()
	c, err := cluster.Connect(t.Context(), strings.Replace(where, "//", "//"+name+":"+name[:1]+"@", 1), cluster.Heartbeat(time.Second))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRolesDoTheirWork has a submitter and a worker, whom an observer sees.
func TestRolesDoTheirWork(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]Option{nil, {With(cluster.Prefix("mine"))}} {
		inside := open(t, append(opts, Listen(quiet, Users(everybody...)))...)
		where := inside.URL()
		halves(t, inside)
		if opts != nil {
			continue // the others would have to be told of the prefix
		}
		sue, will, olga := as(t, where, "sue"), as(t, where, "will"), as(t, where, "olga")
		halves(t, as(t, where, "ann"))
		will.Handle(half)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- cluster.Serve(ctx, will, cluster.Limit(2)) }()
		for _, opts := range [][]cluster.Option{nil, {cluster.Name("halves"), cluster.Limit(1)}} {
			out, err := cluster.Map(t.Context(), sue, half, []int{10, 20, 30}, opts...)
			if err != nil || !slices.Equal(out, []int{5, 10, 15}) {
				t.Errorf("Map = %v, %v; want [5 10 15]", out, err)
			}
		}
		for name, e := range map[string]*cluster.Client{"sue": sue, "will": will, "olga": olga} {
			s, err := e.Status(t.Context())
			if err != nil || len(s.Workers) != 1 || len(s.Tasks) != 1 || len(s.Runs) != 0 || s.Workers[0].Done != 6 {
				t.Errorf("%s: Status = %+v, %v; want one worker, which has done 6, and no runs", name, s, err)
			}
		}
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	}
}

// TestRolesDoNothingElse has each call what is of another role, and wants the error of
// the server.
func TestRolesDoNothingElse(t *testing.T) {
	t.Parallel()
	where := open(t, Listen(quiet, Users(everybody...))).URL()
	for _, name := range []string{"will", "olga"} {
		_, err := cluster.Map(t.Context(), as(t, where, name), half, []int{1})
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: Map = %v; want a violation of permissions", name, err)
		}
	}
	for _, name := range []string{"sue", "olga"} {
		client := as(t, where, name)
		client.Handle(half)
		if err := cluster.Serve(t.Context(), client); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: Serve = %v; want a violation of permissions", name, err)
		}
	}
	sue, will := as(t, where, "sue"), as(t, where, "will")
	ended := make(chan error)
	go func() {
		_, err := cluster.Map(t.Context(), sue, half, []int{1}, cluster.Name("halves"))
		ended <- err
	}()
	for s := new(cluster.Status); s == nil || len(s.Runs) == 0; s, _ = sue.Status(t.Context()) {
	}
	if err := will.Cancel(t.Context(), "halves"); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("will: Cancel = %v; want a violation of permissions", err)
	}
	if err := sue.Cancel(t.Context(), "halves"); err != nil {
		t.Errorf("sue: Cancel = %v", err) // also if the one before has ended the run
	}
	if err := <-ended; !errors.Is(err, cluster.ErrRunLost) {
		t.Errorf("Map = %v; want ErrRunLost", err)
	}
	if _, err := cluster.Connect(t.Context(), strings.Replace(where, "//", "//sue:s@", 1), cluster.Prefix("other")); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("Connect with another prefix = %v; want a violation of permissions", err)
	}
}

// TestSubjectsOfRoles tries single subjects, which a client of its own can send to.
func TestSubjectsOfRoles(t *testing.T) {
	where := open(t, Listen(quiet, Users(everybody...))).URL()
	clients := map[string]*nats.Conn{}
	for _, u := range everybody {
		clients[u.Name] = dialAs(t, where, u.Name)
	}
	for subject, may := range map[string]string{
		"stint.task.x.y.0":                          "ann sue",
		"stint.run.x":                               "ann sue",
		"stint.result.x.0":                          "ann will",
		"stint.alone.x.0":                           "ann will",
		"stint.alone.health":                        "ann will",
		"stint.health":                              "ann sue will olga",
		"stint.workers":                             "ann sue will olga",
		"stint.status":                              "ann will",
		"stint.dead.x.0":                            "ann sue will",
		"$JS.API.STREAM.MSG.GET.stint-tasks":        "ann sue will",
		"$JS.API.STREAM.MSG.GET.stint-results":      "ann sue will",
		"$JS.API.STREAM.MSG.GET.stint-dead":         "ann sue will",
		"$JS.API.DIRECT.GET.stint-tasks":            "ann",
		"$JS.API.STREAM.CREATE.x":                   "ann",
		"$JS.API.STREAM.UPDATE.stint-tasks":         "ann",
		"$JS.API.STREAM.DELETE.stint-tasks":         "ann",
		"$JS.API.STREAM.PURGE.stint-tasks":          "ann",
		"$JS.API.STREAM.SNAPSHOT.stint-tasks":       "ann",
		"$JS.API.CONSUMER.CREATE.stint-results.x":   "ann sue",
		"$JS.API.CONSUMER.DELETE.stint-tasks.x":     "ann",
		"$JS.API.CONSUMER.MSG.NEXT.stint-tasks.x":   "ann will",
		"$JS.API.CONSUMER.MSG.NEXT.stint-results.x": "ann sue",
		"$JS.ACK.stint-tasks.x.1.1.1.1.1":           "ann will",
		"_INBOX.olga.x":                             "ann",
		"$SYS.REQ.SERVER.PING":                      "ann", // of another account: nobody receives it
	} {
		for name, nc := range clients {
			err := tried(nc, func() error { return nc.Publish(subject, nil) })
			if want := slices.Contains(strings.Fields(may), name); want == errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s publishes to %s: %v; want that it may: %v", name, subject, err, want)
			}
		}
	}
	for subject, may := range map[string]string{
		"_INBOX.>": "ann", "_INBOX.sue.>": "ann sue", "_INBOX.will.>": "ann will", ">": "ann", "stint.>": "ann",
		"stint.task.>": "ann", "stint.result.>": "ann", "stint.over.*": "ann sue will", "stint.workers": "ann will", "stint.status": "ann sue will olga", "$JS.EVENT.>": "ann",
	} {
		for name, nc := range clients {
			err := tried(nc, func() error { _, err := nc.SubscribeSync(subject); return err })
			if want := slices.Contains(strings.Fields(may), name); want == errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s subscribes to %s: %v; want that it may: %v", name, subject, err, want)
			}
		}
	}
}

// TestObserverRemovesNothing has an observer publish all that it may, with headers that ask
// the server to remove what is in the stream: everything is there afterwards.
func TestObserverRemovesNothing(t *testing.T) {
	c := open(t, Listen(quiet, Users(everybody...)))
	js, err := jetstream.New(dialAs(t, c.URL(), "ann"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"tasks": "task.x.y.0", "results": "result.x.0", "runs": "run.x", "dead": "dead.x.0"}
	for _, subject := range all {
		if _, err := js.Publish(t.Context(), "stint."+subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	nc := dialAs(t, c.URL(), "olga")
	may := permissions(User{"olga", "o", Observer}, "stint").Publish.Allow
	for _, subject := range append(may, "stint.alone.health") {
		for _, rollup := range []string{jetstream.MsgRollupAll, jetstream.MsgRollupSubject} {
			m := nats.NewMsg(subject)
			m.Header.Set(jetstream.MsgRollup, rollup)
			_ = tried(nc, func() error { return nc.PublishMsg(m) })
		}
	}
	for stream, subject := range all {
		s, err := js.Stream(t.Context(), "stint-"+stream)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.GetLastMsgForSubject(t.Context(), "stint."+subject); err != nil {
			t.Errorf("%s: %v; want what was there", subject, err)
		}
	}
}

// dialAs connects as one of everybody.
func dialAs(t *testing.T, where, name string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(where, nats.UserInfo(name, name[:1]), nats.CustomInboxPrefix("_INBOX."+name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// fill opens a server with a message in each stream and a consumer of each, all named x.
func fill(t *testing.T) (where string, ann *nats.Conn, js jetstream.JetStream) {
	t.Helper()
	where = open(t, Listen(quiet, Users(everybody...))).URL()
	ann = dialAs(t, where, "ann")
	js, err := jetstream.New(ann)
	for stream, subject := range map[string]string{"tasks": "task.x.y.0", "results": "result.x.0", "runs": "run.x", "dead": "dead.x.0"} {
		if err == nil {
			_, err = js.Publish(t.Context(), "stint."+subject, nil)
		}
		if err == nil {
			_, err = js.CreateConsumer(t.Context(), "stint-"+stream, jetstream.ConsumerConfig{Durable: "x", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return where, ann, js
}

// TestAnswersStayWithTheUser has each role send to each subject that it may send to, with a
// reply subject that it may not send to: nothing arrives there, and no request to JetStream.
func TestAnswersStayWithTheUser(t *testing.T) {
	where, ann, js := fill(t)
	trap, err := ann.SubscribeSync("trap.>")
	if err != nil {
		t.Fatal(err)
	}
	olga, err := dialAs(t, where, "olga").SubscribeSync("_INBOX.olga.trap")
	if err != nil {
		t.Fatal(err)
	}
	forge := func(nc *nats.Conn, u User, subject string, targets ...string) {
		subject = strings.NewReplacer("ACK.stint-tasks.>", "ACK.stint-tasks.x.1.1.1.1.1", ">", "x.0", "*", "x").Replace(subject)
		for _, body := range []string{"", `{}`, `{"batch":1,"no_wait":true}`, `{"batch":1,"expires":1000000}`, `{"seq":1}`, "+ACK", "+NXT"} {
			for _, target := range targets {
				m := nats.NewMsg(subject)
				m.Reply, m.Data = target, []byte(body)
				_ = tried(nc, func() error { return nc.PublishMsg(m) })
				m.Reply = ""
				m.Header.Set("Nats-Trace-Dest", target)
				_ = tried(nc, func() error { return nc.PublishMsg(m) })
			}
		}
	}
	for _, u := range everybody {
		may := permissions(u, "stint")
		if may == nil {
			continue
		}
		nc := dialAs(t, where, u.Name)
		for _, subject := range may.Publish.Allow {
			targets := []string{"trap." + string(u.Role) + "." + subject[strings.LastIndex(subject[:len(subject)-1], ".")+1:]}
			for _, stream := range []string{"tasks", "results", "runs", "dead", "health"} {
				targets = append(targets, "$JS.API.STREAM.DELETE.stint-"+stream)
			}
			if u.Role != Observer {
				targets = append(targets, "_INBOX.olga.trap")
			}
			forge(nc, u, subject, targets...)
		}
		for _, last := range []string{"$JS.API.INFO", "stint.health"} { // answered after those before
			if _, err := nc.Request(last, nil, time.Minute); err != nil {
				t.Errorf("%s: %s: %v", u.Name, last, err)
			}
		}
	}
	// The same traps do catch the answers to those who may send to them.
	forge(ann, everybody[0], "stint.health", "trap.ann")
	m, err := trap.NextMsg(time.Minute)
	if err != nil || m.Subject != "trap.ann" {
		t.Errorf("an answer was sent on to %+v, %v; want only the one to ann", m, err)
	}
	if n, _, _ := olga.Pending(); n > 0 {
		t.Errorf("%d answers to others are in the inbox of olga", n)
	}
	for _, stream := range []string{"tasks", "results", "runs", "dead", "health"} {
		if _, err := js.Stream(t.Context(), "stint-"+stream); err != nil {
			t.Errorf("%s: %v", stream, err)
		}
	}
}

// TestCreationsSendNothingElsewhere has users create what JetStream would send messages with.
func TestCreationsSendNothingElsewhere(t *testing.T) {
	where, ann, js := fill(t)
	trap, err := ann.SubscribeSync("trap")
	if err != nil {
		t.Fatal(err)
	}
	consumer := func(stream, config string) string {
		return `{"stream_name":"stint-` + stream + `","config":{"name":"new","ack_policy":"explicit",` + config + `}}`
	}
	asked := func(name, subject, body string) string {
		m, err := dialAs(t, where, name).Request("$JS.API."+subject, []byte(body), time.Minute)
		if err != nil {
			t.Fatal(name, subject, body, err)
		}
		return string(m.Data)
	}
	for _, test := range []struct{ who, stream, config string }{
		{"sue", "results", `"deliver_subject":"trap"`}, {"sue", "results", `"DELIVER_SUBJECT":"trap"`}, {"sue", "results", `"deliver_subject":"a","deliver_subject":"trap"`},
		{"sue", "tasks", `"deliver_subject":"trap"`}, {"will", "tasks", `"deliver_subject":"trap"`},
		{"sue", "results", `"direct":true`}, {"sue", "results", `"sourcing":true`},
	} {
		if got := asked(test.who, "CONSUMER.CREATE.stint-"+test.stream+".new", consumer(test.stream, test.config)); !strings.Contains(got, `"code":403`) {
			t.Errorf("%+v: %s; want a refusal", test, got)
		}
	}
	if got := asked("sue", "CONSUMER.CREATE.stint-results.new", consumer("results", `"max_waiting":5`)); strings.Contains(got, "error") {
		t.Errorf("a consumer to pull from: %s", got)
	}
	for _, subject := range []string{"stint.task.x.y.1", "stint.result.x.1"} {
		if _, err := js.Publish(t.Context(), subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, _ := trap.Pending(); n > 0 {
		t.Errorf("%d messages were sent elsewhere", n)
	}
}

// tried does something on a connection, and returns what the server has against it.
func tried(nc *nats.Conn, do func() error) error {
	nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	before := nc.LastError()
	if err := do(); err != nil {
		return err
	}
	if err := nc.Flush(); err != nil {
		return err
	}
	if err := nc.LastError(); err != before {
		return err
	}
	return nil
}

// TestUserInsideIsNotOutside wants that only the client has the user inside, and that
// its server without a user lets nobody in.
func TestUserInsideIsNotOutside(t *testing.T) {
	h := run(t, Listen(quiet, Users(everybody...)))
	if err := dial(t, h, nats.UserInfo(h.settings.user, h.settings.password)); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("the user of the client from outside: %v; want an error of authorization", err)
	}
	for _, opt := range []nats.Option{nats.Name("x"), nats.UserInfo("ann", "b"), nats.Token("a")} {
		if err := dial(t, h, opt); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("a client without the password: %v; want an error of authorization", err)
		}
	}
	if _, err := inside(t, h).AccountInfo(t.Context()); err != nil {
		t.Errorf("inside: %v", err)
	}
}

// TestUsersThatAreWrong wants errors, without a password in them.
func TestUsersThatAreWrong(t *testing.T) {
	for want, users := range map[string][]User{
		"nobody is let in":      nil,
		`name "a b"`:            {{"a b", "hunter2", All}},
		`name ""`:               {{"", "hunter2", All}},
		"ann is there twice":    {{"ann", "hunter2", All}, {"ann", "hunter2", Worker}},
		`role "king" of ann`:    {{"ann", "hunter2", "king"}},
		"password of ann is em": {{"ann", "", All}},
	} {
		if _, err := Open(Listen(quiet, Users(users...))); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open = %v; want an error with %q, without the password", err, want)
		}
	}
}
