package servers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/proxy"
)

// A child describes a server of ours in a process of its own, which does not use the
// processors of the Go scheduler of this one: a guard of a server if Run is set, a proxy
// if To is set, otherwise a web server.
type child struct {
	Run []string `json:"run,omitempty"` // command
	Dir string   `json:"dir,omitempty"` // to run it in
	As  *account `json:"as,omitempty"`  // the user to run it as

	To        string        `json:"to,omitempty"` // address of the server
	RoundTrip time.Duration `json:"round_trip"`
	Jitter    time.Duration `json:"jitter"`

	PerSecond int           `json:"per_second,omitempty"` // requests that are served; 0: all
	Service   time.Duration `json:"service"`              // of a request then
}

// childVar is the environment variable that holds a child's description.
const childVar = "STINT_LAB_SERVER"

// Child runs this process as a child, if it was started as one, and returns its
// exit status. Programs that run the experiment call it first.
func Child() (status int, ok bool) {
	text, ok := os.LookupEnv(childVar)
	if !ok {
		return 0, false
	}
	if err := runChild(text, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", text, err)
		return 1, true
	}
	return 0, true
}

// runChild prints its address and serves until in ends, as it does when the parent
// process is gone. A guard prints what its server does.
func runChild(text string, in io.Reader, out io.Writer) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	if len(c.Run) > 0 {
		cmd := c.As.apart(exec.Command(c.Run[0], c.Run[1:]...))
		cmd.Dir = c.Dir
		return guard(cmd, in)
	}
	address, end, err := c.listen()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, address)
	_, _ = io.Copy(io.Discard, in) // for any reason
	return end()
}

// listen starts the server.
func (c child) listen() (address string, end func() error, err error) {
	if c.To != "" {
		p, err := proxy.Listen(c.To, c.RoundTrip, c.Jitter)
		if err != nil {
			return "", nil, err
		}
		return p.Address(), p.Close, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: http.HandlerFunc(pages)}
	if c.PerSecond > 0 {
		s.Handler = &refuser{perSecond: c.PerSecond, service: c.Service}
	}
	go s.Serve(l)
	return l.Addr().String(), s.Close, nil
}

// command returns the command that is the child, which ends when in is closed.
func (c child) command() (cmd *exec.Cmd, in io.Closer, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	var who *account
	cmd = who.apart(exec.Command(path))
	cmd.Env = append(os.Environ(), childVar+"="+string(text))
	in, err = cmd.StdinPipe()
	return cmd, in, err
}

// start starts a child that listens, and returns its address.
func (c child) start() (address string, stop func(), err error) {
	cmd, in, err := c.command()
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		in.Close()
		cmd.Wait()
	}
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("a server of the laboratory did not start: %w", err)
	}
	return strings.TrimSpace(address), stop, nil
}
