package sum

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/server"
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
	client, err := s.Server.Connect(ctx, cluster.Log(server.NewFullLog(s.console)))
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

// reportStalls prints why no result arrives, until stop is called.
func (d *clusterDigester) reportStalls(ctx context.Context) (stop func()) {
	stall := server.Stall{
		Client: d.client, Console: d.console, Interval: d.stallInterval, Task: d.task.Name(),
		Advice: func([]cluster.WorkerStatus) string { return "start it with 'stint work'" },
		State: func() (pending bool, results int) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return len(d.pending) > 0, d.results
		},
	}
	return stall.Report(ctx)
}
