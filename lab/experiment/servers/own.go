package servers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// page is what web servers answer.
var page = bytes.Repeat([]byte("0123456789abcdef"), 64)

// pages serves the page.
func pages(w http.ResponseWriter, _ *http.Request) { w.Write(page) }

// errBusy is the error of a request that was refused.
var errBusy = errors.New("refused by the server")

// A client gets the page from an address.
type client struct {
	http.Client
	url string
}

// newClient returns a client that keeps some connections open.
func newClient(address string, connections int) *client {
	return &client{http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableCompression: true}}, "http://" + address + "/page"}
}

// connectWeb connects a client with as many open connections as there may be requests, so that
// tasks do not wait for them.
func connectWeb(ctx context.Context, address string) ([]task, func(), error) {
	const connections = 300
	c := newClient(address, connections)
	return []task{c.get}, c.CloseIdleConnections, open(ctx, connections, c.get)
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
	case resp.StatusCode == http.StatusServiceUnavailable:
		return errBusy
	case resp.StatusCode != http.StatusOK || !bytes.Equal(got, page):
		return fmt.Errorf("%s: status %s, %d bytes", c.url, resp.Status, len(got))
	}
	return nil
}

// sleeping returns two tasks: some that sleep for 0 to 9 ms in random but fixed order, and one
// that sleeps for 5 ms.
func sleeping(few int) func(context.Context, string) ([]task, func(), error) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(few)
	return func(context.Context, string) ([]task, func(), error) {
		unlike := func(_ context.Context, i int) error {
			time.Sleep(9 * time.Millisecond * time.Duration(order[i]) / time.Duration(max(1, few-1)))
			return nil
		}
		alike := func(context.Context, int) error { time.Sleep(5 * time.Millisecond); return nil }
		return []task{unlike, alike}, func() {}, nil
	}
}

// writeFiles returns a task that writes files in a folder.
func writeFiles(_ context.Context, dir string) ([]task, func(), error) {
	block := bytes.Repeat([]byte{'x'}, 4<<10)
	write := func(_ context.Context, i int) error {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint("file-", i)))
		if err != nil {
			return err
		}
		_, err = f.Write(block)
		return cmp.Or(err, f.Sync(), f.Close(), os.Remove(f.Name()))
	}
	return []task{write}, func() {}, nil
}
