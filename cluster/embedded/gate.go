package embedded

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A gate lets the users of a server in. Each user has an account of its own, into which it
// imports what it may send and receive; the streams are in the global account. Permissions
// alone do not do, since the server checks no reply subjects, and answers to them itself: so
// an answer could be a task, or a request to JetStream that deletes a stream. The answer to an
// import is delivered in the account of the user, where it reaches its inbox.
type gate struct {
	*settings
	prefix string
	server *server.Server
	conn   *nats.Conn // of the checks

	mu       sync.Mutex
	accounts map[string]*server.Account // by the name of the user
}

func newGate(set *settings, prefix string) *gate {
	return &gate{settings: set, prefix: prefix, accounts: map[string]*server.Account{}}
}

// Check implements server.Authentication.
func (g *gate) Check(c server.ClientAuthentication) bool {
	o, peer := c.GetOpts(), c.RemoteAddress()
	if peer != nil && peer.Network() == "pipe" { // the connections inside
		return equal(o.Username, g.user) && equal(o.Password, g.password)
	}
	for _, u := range g.users {
		if u.Name != o.Username || !equal(u.Password, o.Password) {
			continue
		}
		account, err := g.account(u)
		if err != nil {
			g.server.Errorf("Users: account of %s: %v", u.Name, err)
			return false
		}
		c.RegisterUser(&server.User{Username: u.Name, Account: account, Permissions: permissions(u, g.prefix)})
		return true
	}
	return false
}

// equal compares secrets.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// account returns the account of a user, and makes it when the user connects first.
func (g *gate) account(u User) (*server.Account, error) {
	home := g.server.GlobalAccount()
	may := permissions(u, g.prefix)
	if may == nil {
		return home, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if a := g.accounts[u.Name]; a != nil {
		return a, nil
	}
	a, _ := g.server.LookupOrRegisterAccount("user-" + u.Name)
	var err error
	for _, subject := range may.Publish.Allow {
		to, answers := subject, server.Singleton
		if isChecked(subject) {
			to = checked + subject
		}
		if strings.Contains(subject, ".MSG.NEXT.") {
			answers = server.Streamed
		}
		err = cmp.Or(err, home.AddServiceExportWithResponse(to, answers, nil),
			home.SetServiceExportResponseThreshold(to, answerTime), a.AddServiceImport(home, subject, to))
	}
	for _, subject := range may.Subscribe.Allow {
		if !strings.HasPrefix(subject, nats.InboxPrefix) {
			err = cmp.Or(err, home.AddStreamExport(subject, nil), a.AddStreamImport(home, subject, ""))
		}
	}
	if err != nil {
		return nil, err
	}
	g.accounts[u.Name] = a
	return a, nil
}

const (
	// answerTime is how long the server knows where to send an answer, or the next of several
	// messages. A request for messages waits for less.
	answerTime = 15 * time.Second

	// checked is before a subject of which the gate sees the messages first.
	checked = "$STINT."
)

// isChecked reports whether the gate sees the messages of a subject first: requests that say
// what JetStream is to make, which may name subjects to which it sends messages then, and what
// other users receive, since the server sends an import on to no import.
func isChecked(subject string) bool {
	return strings.Contains(subject, ".CREATE.") || slices.ContainsFunc([]string{".over.*", ".full.*", ".workers", ".status"}, func(end string) bool {
		return strings.HasSuffix(subject, end)
	})
}

// open connects inside, for what is checked.
func (g *gate) open() (err error) {
	g.conn, err = nats.Connect("", nats.InProcessServer(g.server), nats.UserInfo(g.user, g.password), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { g.server.Warnf("Users: %v", err) }))
	if err == nil {
		_, err = g.conn.Subscribe(checked+">", g.pass)
	}
	return err
}

// close closes the connection, which ends each create.
func (g *gate) close() {
	if g.conn != nil {
		g.conn.Close()
	}
}

// pass sends a message on, without headers that mean something to the server: the gate may
// send everywhere.
func (g *gate) pass(m *nats.Msg) {
	subject := strings.TrimPrefix(m.Subject, checked)
	if strings.HasPrefix(subject, "$JS.") {
		go g.create(m, subject)
		return
	}
	on := nats.NewMsg(subject)
	on.Data = m.Data
	for key, values := range m.Header {
		if strings.HasPrefix(key, "Stint") {
			on.Header[key] = values
		}
	}
	_ = g.conn.PublishMsg(on)
}

// create sends a request on to JetStream, unless it would send messages elsewhere.
func (g *gate) create(m *nats.Msg, subject string) {
	if err := g.check(m); err != nil {
		refusal, _ := json.Marshal(server.ApiResponse{Error: &server.ApiError{Code: 403, Description: err.Error()}})
		_ = m.Respond(refusal)
	} else if answer, err := g.conn.Request(subject, m.Data, answerTime); err == nil {
		_ = m.Respond(answer.Data)
	}
}

// check decodes a request for a consumer as the server does.
func (g *gate) check(m *nats.Msg) error {
	var q server.CreateConsumerRequest
	err := json.Unmarshal(m.Data, &q)
	if err == nil && (q.Config.DeliverSubject != "" || q.Config.Direct || q.Config.Sourcing) {
		err = errors.New("this user may only create consumers that are pulled from")
	}
	return err
}
