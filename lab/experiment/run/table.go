package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions.
const (
	starts    = "stint run starts in at most 20 ms, in a fifth of the time of GNU parallel."
	cheap     = "A job of stint run costs about what one of xargs does, a fifth of one of GNU parallel, and no more than one of rush or rust-parallel."
	computing = "Without -j, jobs that compute take about the time of the best -j."
	waiting   = "Without -j, jobs that only wait take at most a third more than with -j 256."
	both      = "Without -j, jobs that compute half of their time take about the time of the best -j."
	fits      = "Without -j, no more jobs run than memory has room for, none is killed, and they take little longer than with the best -j that survives."
	linear    = "stint run takes a million items in 40 MB, and four times as many in four times the time."
	bounded   = "stint run keeps the output of later jobs in order without keeping it in memory."
	survives  = "On a cluster every output comes once and in order, also if a worker and the server are killed."
)

// table returns the rows. Those of a list are measured together.
func (l *lab) table(ctx context.Context) [][]row {
	return [][]row{{l.one()}, {l.many()}, {l.gzip()}, {l.sleeping()}, {l.halves()}, {l.memory()},
		l.million("fit", "echo with as many items as fit, -X", batch{flags: []string{"-X"}, fit: true}, nameXargs, nameGNU),
		l.million("dry-run", "echo for each item, which is shown and not run", batch{flags: []string{"--dry-run"}}),
		{l.output()}, {l.cluster(ctx)}}
}

// atMost claims that a value of stint run is at most bar.
func atMost(bar float64, unit measure.Unit, kase, conclusion string) result.Claim {
	return result.Claim{Case: kase, Model: nameOurs, Unit: unit, Form: result.Value, Bar: bar, Conclusion: conclusion}
}

// one runs a job that does nothing.
func (l *lab) one() row {
	r := row{name: "true/jobs=1", doc: "true, once", tools: append([]tool{l.ours(0)}, l.peers...), batch: batch{command: []string{"true"}, n: 1, text: numbered}}
	r.claims = append(
		l.against(nameGNU, result.Claim{Case: r.name, Model: nameOurs, Unit: measure.Time, Form: result.Speedup, Than: nameGNU, Bar: 5, Conclusion: starts}),
		atMost(20e6, measure.Time, r.name, starts))
	return r
}

// many runs many of them.
func (l *lab) many() row {
	r := l.one()
	r.name, r.doc = fmt.Sprintf("true/jobs=%d", l.trues), fmt.Sprintf("true, %d times, with -j 2", l.trues)
	r.n, r.jobs, r.claims = l.trues, 2, nil
	for _, c := range []struct {
		peer string
		bar  float64
	}{{nameXargs, 1.15}, {nameGNU, 0.2}, {nameRush, 1}, {nameRust, 1}} {
		r.claims = append(r.claims, l.against(c.peer, experiment.AtMost(c.bar, r.name, nameOurs, c.peer, cheap))...)
	}
	return r
}

// gzip compresses files of words and numbers.
func (l *lab) gzip() row {
	dir := l.file("files")
	r := row{
		name: fmt.Sprintf("gzip/jobs=%d", l.gzips), tools: l.tools([]int{1, 2, 3, 4, 8}, nameXargs, nameGNU), json: true,
		batch: batch{command: []string{"gzip", "-9", "-k", "-f"}, n: l.gzips, flags: []string{"--json"},
			text: func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) }},
	}
	r.doc = fmt.Sprintf("gzip -9 of %d files of %.3g MB; xargs has -P %s", l.gzips, float64(l.gzipBytes)/1e6, r.atOnce())
	r.claims = []result.Claim{experiment.AtMost(1.05, r.name, nameOurs, result.BestSwept, computing)}
	r.prepare = func() error {
		l.Logf("run: making %d files", l.gzips)
		err := os.Mkdir(dir, 0o777)
		random := rand.New(rand.NewPCG(1, 2))
		for _, name := range r.all() {
			f, e := os.Create(name)
			if err = errors.Join(err, e); err != nil {
				return err
			}
			w := bufio.NewWriter(f)
			for left := l.gzipBytes; left > 0; {
				n, _ := w.WriteString(strconv.FormatUint(random.Uint64N(1<<40), 36) + " ")
				left -= n
			}
			err = errors.Join(w.Flush(), f.Close())
		}
		return err
	}
	r.enter = func(*measure.Process) (func() error, error) {
		return func() (err error) { // the compressed files must all be there
			for _, name := range r.all() {
				err = errors.Join(err, os.Remove(name+".gz"))
			}
			return err
		}, nil
	}
	return r
}

// sleeping runs jobs that only wait.
func (l *lab) sleeping() row {
	const most = 256
	r := row{
		name: fmt.Sprintf("sleep=%v/jobs=%d", l.sleep, l.sleeps), json: true, doc: fmt.Sprintf("sleep, %d times; the peers run %d at once", l.sleeps, most),
		batch: batch{command: []string{"sleep"}, n: l.sleeps, others: most, flags: []string{"--json"},
			text: func(int) string { return fmt.Sprint(l.sleep.Seconds()) }},
	}
	r.tools = l.tools([]int{most}, nameXargs, nameGNU)
	r.claims = []result.Claim{experiment.AtMost(1.3, r.name, nameOurs, jobsName(most), waiting)}
	return r
}

// halves runs jobs that compute and then wait.
func (l *lab) halves() row {
	r := row{
		name: fmt.Sprintf("compute=%v/wait=%v/jobs=%d", l.half, l.half, l.mixed), doc: fmt.Sprintf("%d jobs that compute and then wait", l.mixed),
		tools: l.tools([]int{1, 2, 3, 4, 6, 8, 16, 32, 64}, nameGNU), json: true, repeat: 1,
		batch: batch{command: []string{l.job, "-steps", strconv.Itoa(load.Steps(l.half)), "-wait", l.half.String()},
			n: l.mixed, text: numbered, flags: []string{"--json"}},
	}
	r.claims = []result.Claim{experiment.AtMost(1.1, r.name, nameOurs, result.BestSwept, both)}
	return r
}

// memory runs jobs that need much memory, in a cgroup.
func (l *lab) memory() row {
	most := int(l.room / l.hold)
	r := row{
		name:  fmt.Sprintf("memory=%dMB/jobs=%d", l.hold/1e6, l.holders),
		doc:   fmt.Sprintf("%d jobs that hold %d MB for %v; all are in a cgroup of %d MB", l.holders, l.hold/1e6, l.holding, l.room/1e6),
		tools: l.tools([]int{2, most - 2, most - 1, most}), json: true, counts: true,
		batch: batch{command: []string{l.job, "-memory", fmt.Sprint(l.hold), "-wait", l.holding.String()},
			n: l.holders, text: numbered, flags: []string{"--json"}},
	}
	r.claims = []result.Claim{atMost(0, measure.Failures, r.name, fits), experiment.AtMost(1.2, r.name, nameOurs, result.BestSwept, fits)}
	r.enter = func(p *measure.Process) (func() error, error) { return enterGroup(p, l.room) }
	dir, err := makeGroup(l.room)
	r.skip = err
	removeGroup(dir)
	return r
}

// million reads many items, and a quarter of them.
func (l *lab) million(name, doc string, b batch, peers ...string) []row {
	var out []row
	b.command, b.text, b.ordered = []string{"echo"}, numbered, true
	for _, b.n = range []int{l.items / 4, l.items} {
		out = append(out, row{name: fmt.Sprintf("%s/items=%d", name, b.n), doc: doc, batch: b, tools: l.tools(nil, peers...), repeat: 1})
	}
	out[1].claims = []result.Claim{
		atMost(40e6, measure.PeakRSS, out[1].name, linear),
		experiment.Across(5, out[1].name, out[0].name, nameOurs, linear),
	}
	return out
}

// output runs a first job that lasts until the others have printed much.
func (l *lab) output() row {
	last := l.file("last")
	r := row{
		name:  fmt.Sprintf("print=%.3gMB/jobs=%d", float64(l.bytes)/1e6, l.outputs),
		doc:   fmt.Sprintf("%d jobs print %.3g MB each, and the first of all lasts as long, with output in order", l.outputs, float64(l.bytes)/1e6),
		tools: l.tools(nil, nameGNU), repeat: l.bytes / len(numbered(0)+"\n"),
		batch: batch{command: []string{l.job, "-print", strconv.Itoa(l.bytes), "-until", last, "-last", strconv.Itoa(l.outputs)},
			n: l.outputs + 1, text: numbered, ordered: true},
	}
	r.claims = []result.Claim{atMost(100e6, measure.PeakRSS, r.name, bounded)}
	r.enter = func(*measure.Process) (func() error, error) { return func() error { return os.Remove(last) }, nil }
	return r
}
