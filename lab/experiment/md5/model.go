package md5

import (
	"context"
	"runtime"
	"slices"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/models"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/stream"
)

// A model returns the files of a folder in the order of the walk, or the first
// error of the walk or of a file.
type model struct {
	result.Model
	run func(ctx context.Context, f folder) ([]File, error)
}

// The names of models that claims are about.
const (
	nameMapSeq = "stint.MapSeq"
	nameParMap = "stream.ParMap"
)

var allModels = []model{
	peer(models.NameSequential, "filepath.WalkDir, one file after the other", sequential),
	peer("errgroup-5", "x/sync v0.24.0, errgroup: one goroutine walks, five take digests, the caller collects; unbuffered channels", pipeline(func() int { return 5 })),
	peer("errgroup-procs", "the same with GOMAXPROCS digesters", pipeline(procs)),
	peer("conc-pool", "sourcegraph/conc v0.3.0, pool.New().WithMaxGoroutines.WithContext.WithFirstError, cancelled by the first error", concPool),
	peer("conc-stream", "sourcegraph/conc v0.3.0, stream.New().WithMaxGoroutines, the callbacks collect", concStream),
	peer("ants", "panjf2000/ants/v2 v2.12.1, NewPool, a sync.WaitGroup and the first error", antsPool),
	peer("pond", "alitto/pond/v2 v2.7.1, NewResultPool, NewGroupContext, SubmitErr", pondPool),
	peer("rill", "destel/rill v0.7.0, FromSeq, OrderedMap, ToSlice", rillOrdered),
	ours(nameMapSeq, "MapSeq without an option over the walk", mapSeq),
	ours(models.NameMap, "Map without an option, after the walk", mapAll),
	ours(nameParMap, "FromSeq of the walk, ParMap without an option, Collect", parMap),
}

func peer(name, doc string, run func(context.Context, folder) ([]File, error)) model {
	return model{result.Peer.Model(name, doc), run}
}

func ours(name, doc string, run func(context.Context, folder) ([]File, error)) model {
	return model{result.Ours.Model(name, doc), run}
}

// procs returns GOMAXPROCS, for models that need a limit.
func procs() int { return runtime.GOMAXPROCS(0) }

func sequential(_ context.Context, f folder) ([]File, error) {
	var out []File
	for e := range f.walk() {
		file, err := f.file(e)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func mapSeq(ctx context.Context, f folder) ([]File, error) {
	var out []File
	for file, err := range stint.MapSeq(ctx, f.walk(), f.task) {
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

func mapAll(ctx context.Context, f folder) ([]File, error) {
	return stint.Map(ctx, slices.Collect(f.walk()), f.task)
}

func parMap(ctx context.Context, f folder) ([]File, error) {
	return stream.Collect(ctx, stream.ParMap(stream.FromSeq(f.walk()), f.task))
}

// task is file with a context, which it does not watch: a digest is short.
func (f folder) task(_ context.Context, e entry) (File, error) { return f.file(e) }
