package sum

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
)

// maxRequestsAhead is maxFilesAhead for files in the queue of a server, whose results
// are in its memory.
const maxRequestsAhead = 4096

// StallInterval is the time without a result after which the command says what it waits
// for. Tests shorten it.
var StallInterval = 3 * time.Second

// clusterDigester computes digests on the workers of a cluster, in one cluster run.
type clusterDigester struct {
	*Summer
	client        *cluster.Client
	task          *cluster.Task[request, response]
	dir           string        // the start of relative paths
	stallInterval time.Duration // StallInterval

	mu      sync.Mutex
	pending []result // without digest, in order
	results int      // results received
}

// connect makes workers compute the digests, until the client is closed.
func (s *Summer) connect(ctx context.Context) (*cluster.Client, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, console.Failure("the current directory: " + console.Reason(err))
	}
	client, err := s.Server.Connect(ctx, cluster.Log(newFullLog(s.console)))
	if err == nil {
		s.cluster = &clusterDigester{Summer: s, client: client, task: digestTask(s.digester), dir: dir, stallInterval: StallInterval}
	}
	return client, err
}

// digests is Summer.digests.
func (d *clusterDigester) digests(ctx context.Context, wanted iter.Seq[result]) iter.Seq2[result, error] {
	opts := []cluster.Option{cluster.Queue(maxRequestsAhead), cluster.KeepGoing()}
	if d.Jobs > 0 {
		opts = append(opts, cluster.Limit(d.Jobs))
	}
	return func(yield func(result, error) bool) {
		stop := d.reportStalls(ctx)
		defer stop()
		for got, err := range cluster.MapSeq(ctx, d.client, d.task, d.requests(wanted), opts...) {
			var item *stint.ItemError
			switch {
			case errors.As(err, &item):
				err = item.Err
			case err != nil && ctx.Err() == nil:
				yield(result{}, d.Server.Failed(err))
				return
			case err != nil:
				yield(result{}, err)
				return
			}
			r := d.next()
			r.complete(&got, err)
			d.digester.bytes.Add(r.size)
			if !yield(r, nil) {
				return
			}
		}
	}
}

// requests yields a request for each result that is wanted. It is empty for a file that
// no worker could read, which keeps its position in the order and counts against
// maxRequestsAhead.
func (d *clusterDigester) requests(wanted iter.Seq[result]) iter.Seq[request] {
	return func(yield func(request) bool) {
		for r := range wanted {
			r.refuse()
			var q request
			if r.unread() {
				q = request{[]byte(d.absolute(r.Path)), r.alg.name}
			}
			d.mu.Lock()
			d.pending = append(d.pending, r)
			d.mu.Unlock()
			if !yield(q) {
				return
			}
		}
	}
}

// next returns the first pending result.
func (d *clusterDigester) next() result {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.pending[0]
	d.pending[0] = result{}
	d.pending = d.pending[1:]
	d.results++
	return r
}

// absolute returns path as a worker gets it. A worker that reads below a directory
// compares the text of paths.
func (d *clusterDigester) absolute(path string) string {
	if path != "" && !filepath.IsAbs(path) {
		path = d.dir + string(filepath.Separator) + path
	}
	return files.Clean(path)
}

// reportStalls prints why no result arrives, each reason once, until stop is called.
func (d *clusterDigester) reportStalls(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(d.stallInterval)
		defer tick.Stop()
		before, printed := 0, map[string]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			d.mu.Lock()
			pending, results := len(d.pending) > 0, d.results
			d.mu.Unlock()
			if results == before {
				if why := d.stallReason(ctx, pending); why != "" && !printed[why] {
					d.console.Message(why)
					printed[why] = true
				}
			}
			before = results
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// stallReason returns why no result arrives, or "". Unless a request is pending, the
// only reason is the server.
func (d *clusterDigester) stallReason(ctx context.Context, pending bool) string {
	statusCtx, cancel := context.WithTimeout(ctx, max(d.stallInterval, time.Second))
	defer cancel()
	status, err := d.client.Status(statusCtx)
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		return "the server does not answer; waiting for it"
	case status.Store != "":
		return "the server stores nothing: " + status.Store + "; waiting for it"
	case !pending:
		return ""
	}
	for _, w := range status.Workers {
		if slices.Contains(w.Tasks, d.task.Name()) {
			return ""
		}
	}
	return "no worker has answered yet; waiting for one: start it with 'stint work'"
}

// fullLog prints once for each reason that a full server makes the run wait. It drops
// all other records: results or errors tell the same.
type fullLog struct {
	slog.Handler // for the methods that are not called
	console      *console.Console
	printed      *sync.Map
}

func newFullLog(c *console.Console) *slog.Logger {
	return slog.New(fullLog{slog.DiscardHandler, c, new(sync.Map)})
}

func (fullLog) Enabled(context.Context, slog.Level) bool { return true }

func (l fullLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok && errors.Is(err, cluster.ErrFull) {
			text := strings.TrimPrefix(err.Error(), "cluster: ")
			if _, before := l.printed.LoadOrStore(text, true); !before {
				l.console.Message(text + "; waiting for room")
			}
		}
		return true
	})
	return nil
}
