package servers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// page is what web servers answer.
var page = bytes.Repeat([]byte("0123456789abcdef"), 64)

// pages serves the page.
func pages(w http.ResponseWriter, _ *http.Request) { w.Write(page) }

// A refuser serves some requests per second, and refuses the others.
type refuser struct {
	perSecond int
	service   time.Duration

	mu   sync.Mutex
	at   time.Time
	left float64
}

// burst is how much of an allowance is kept, in seconds.
const burst = 0.01

func (s *refuser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.take(time.Now()) {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	time.Sleep(s.service)
	pages(w, r)
}

// take reports whether a request at a time is served.
func (s *refuser) take(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	rate := float64(s.perSecond)
	s.left = min(rate*burst, s.left+rate*now.Sub(s.at).Seconds())
	s.at = now
	if s.left < 1 {
		return false
	}
	s.left--
	return true
}

// pageDoc is what an op of web servers is.
const pageDoc = "an op is a GET of a page of 1 KiB"

// startChild returns a function that starts a server of ours.
func startChild(c child) func(context.Context, string, string) (running, error) {
	return func(context.Context, string, string) (running, error) {
		address, stop, err := c.start()
		return running{address, address, stop}, err
	}
}

// web is the server of net/http.
func (z sizes) web() server {
	return server{
		name: "http", start: startChild(child{}), links: append(distances(), jittery()), connect: connectWeb(maxLimit),
		rows: []row{{name: "http", doc: pageDoc}},
	}
}

// webBatch serves batches of requests from afar.
func (z sizes) webBatch() server {
	n := 300 / z.divisor
	return server{
		name: "http-batch", start: startChild(child{}), links: []link{far(20 * time.Millisecond)}, connect: connectWeb(max(n, maxLimit)),
		rows: []row{{name: fmt.Sprintf("http/batch=%d", n), doc: "an op is all GETs, of a page of 1 KiB", n: n, batches: z.batches(10)}},
	}
}

// refusing refuses requests beyond 1,000 a second. Five at once are served at that rate.
func refusing() server {
	return server{
		name: "http-429", start: startChild(child{PerSecond: 1000, Service: 5 * time.Millisecond}), connect: connectWeb(maxLimit),
		rows: []row{{name: "http/429", doc: "an op is a GET that is served; the server answers 429 to more than 1,000 per second", refuses: true}},
	}
}

// nginx is nginx with a file.
func nginx() server {
	return server{
		name: "nginx", find: findNginx, start: startNginx, links: distances(), connect: connectWeb(maxLimit),
		rows: []row{{name: "nginx", doc: pageDoc}},
	}
}

// findNginx returns the path of nginx.
func findNginx() (string, error) {
	return find("nginx", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
}

// startNginx starts nginx with a folder in dir.
func startNginx(ctx context.Context, dir, path string) (running, error) {
	who, err := unprivileged("nobody")
	if err != nil {
		return running{}, err
	}
	if err := who.own(dir); err != nil {
		return running{}, err
	}
	address, _, err := freeAddress()
	if err != nil {
		return running{}, err
	}
	config := fmt.Sprintf(nginxConfig, runtime.NumCPU(), address, dir)
	for name, text := range map[string][]byte{"page": page, "nginx.conf": []byte(config)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return running{}, err
		}
	}
	p, err := launch(ctx, who, exec.Command(path, "-p", dir+"/", "-c", "nginx.conf", "-e", "stderr"), accepts(address))
	if err != nil {
		return running{}, err
	}
	return running{address, address, p.stop}, nil
}

const nginxConfig = `daemon off; worker_processes %d; pid nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
	access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000000; keepalive_timeout 1h;
	client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
	server { listen %s; root %s; }
}
`

// A client gets the page from an address.
type client struct {
	http.Client
	url string
}

// connectWeb returns a function that connects a client with as many open connections
// as there may be requests, so that tasks do not wait for them.
func connectWeb(connections int) func(context.Context, string) ([]task, func(), error) {
	return func(ctx context.Context, address string) ([]task, func(), error) {
		c := &client{url: "http://" + address + "/page"}
		c.Transport = &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}
		errs := make(chan error, connections)
		for range connections {
			go func() { errs <- c.get(ctx, 0) }()
		}
		var first error
		for range connections {
			if err := <-errs; err != errBusy {
				first = cmp.Or(first, err)
			}
		}
		return []task{c.get}, c.CloseIdleConnections, first
	}
}

// get requests the page.
func (c *client) get(ctx context.Context, _ int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusTooManyRequests:
		return errBusy
	case resp.StatusCode != http.StatusOK || !bytes.Equal(got, page):
		return fmt.Errorf("%s: status %s, %d bytes", c.url, resp.Status, len(got))
	}
	return nil
}
