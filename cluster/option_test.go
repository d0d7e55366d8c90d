package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// Wrong options panic with package, name and value.
func TestWrongOptions(t *testing.T) {
	for want, f := range map[string]func(){
		"cluster: Limit(0): want 1 or more":           func() { Limit(0) },
		"cluster: Queue(-1): want 0 or more":          func() { Queue(-1) },
		"cluster: WindowBytes(0): want 1 or more":     func() { WindowBytes(0) },
		"cluster: Limiter: nil Limiter":               func() { Limiter(nil) },
		"cluster: Heartbeat(1ms): want 250ms or more": func() { Heartbeat(time.Millisecond) },
		"cluster: FullTimeout(0s): want more than 0":  func() { FullTimeout(0) },
		"cluster: Retention(1s): want 1m0s or more":   func() { Retention(time.Second) },
		"cluster: QueueLimit(0): want 1 or more":      func() { QueueLimit(0) },
		"cluster: Replicas(0): want 1 or more":        func() { Replicas(0) },
		"cluster: Log: nil Logger":                    func() { Log(nil) },
		"cluster: Start: nil Server":                  func() { _, _ = Start(nil) },
		"cluster: Connect: nil ClientOption":          func() { _, _ = Connect(context.Background(), "", nil) },
		"cluster: Map: nil Option":                    func() { collect("Map", []Option{nil}, mapOptions...) },
		"cluster: Map: Unordered does not apply":      func() { collect("Map", []Option{Limit(1), Unordered()}, mapOptions...) },
		"cluster: MapSeq: Limiter does not apply":     func() { collect("MapSeq", []Option{Limiter(stint.Limit(1))}, seqOptions...) },
		"cluster: MapFrom: nil function": func() {
			MapFrom[int, int](context.Background(), newClient(configure("", nil)), NewTask("t", func(context.Context, int) (int, error) { return 0, nil }), nil)
		},
		"cluster: Serve: KeepGoing does not apply":                                      func() { _ = Serve(context.Background(), newClient(configure("", nil)), KeepGoing()) },
		`cluster: Name: name " ": want 1 to 100 letters, digits, '-', '_', '.' and '/'`: func() { Name(" ") },
	} {
		func() {
			defer func() {
				if got := recover(); got != any(want) {
					t.Errorf("got %v, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// The window of a run is its Limit and its Queue; by default 1,024 or twice the Limit.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		opts []Option
		want int
	}{
		{nil, 1024},
		{[]Option{Limit(10)}, 1024},
		{[]Option{Limit(1000)}, 2000},
		{[]Option{Queue(0)}, 1},
		{[]Option{Queue(7), Limit(1), Limit(3)}, 10},
		{[]Option{Limit(3), Queue(0), Name("")}, 3},
	} {
		if r := newRecord(&kind{name: "x"}, collect("Map", c.opts, mapOptions...)); r.Window != c.want || r.Named {
			t.Errorf("a window of %d, named: %v; want %d", r.Window, r.Named, c.want)
		}
	}
}
