package run

import (
	"bufio"
	"cmp"
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
	computing = "Without -j, jobs that compute take about the time of the best -j."
	waiting   = "Without -j, jobs that only wait take at most a third more than with -j 256."
	both      = "Without -j, jobs that compute half of their time take about the time of the best -j."
)

// gzip compresses files.
func (l *lab) gzip(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("gzip/jobs=%d", l.gzips)
	dir := l.file("files")
	it, err := l.newItems(name, l.gzips, func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) })
	if err == nil && l.prepares(name) {
		err = l.makeFiles(dir)
	}
	b := batch{command: []string{"gzip", "-9", "-k", "-f"}, items: it, flags: []string{flagJSON}}
	models := l.models(ctx, b, unchecked, []tool{l.ours(0)}, l.sweep(l.fewer(1, 2, 3, 4, 8)...), l.peer(nameXargs), l.peer(nameGNU))
	for i, m := range models {
		models[i].Run = func(meter *measure.Meter) error { return cmp.Or(m.Run(meter), l.takeCompressed(it)) }
	}
	c := l.kase(name, fmt.Sprintf("gzip -9 of %d files of %.3g MB; xargs has -P %d", l.gzips, float64(l.gzipBytes)/1e6, b.atOnce()), models...)
	return experiment.One(c, experiment.AtMost(1.05, name, nameOurs, result.BestSwept, computing)), err
}

// makeFiles makes the files, of words and numbers.
func (l *lab) makeFiles(dir string) error {
	l.Logf("run: making %d files", l.gzips)
	err := os.Mkdir(dir, 0o777)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range l.gzips {
		f, e := os.Create(filepath.Join(dir, strconv.Itoa(i)))
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

// takeCompressed removes the compressed files, which must all be there.
func (l *lab) takeCompressed(it items) error {
	for i := range it.n {
		if err := os.Remove(it.text(i) + ".gz"); err != nil {
			return err
		}
	}
	return nil
}

// sleeping runs jobs that only wait.
func (l *lab) sleeping(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("sleep=%v/jobs=%d", l.sleep, l.sleeps)
	it, err := l.newItems(name, l.sleeps, func(int) string { return fmt.Sprint(l.sleep.Seconds()) })
	many := 256
	b := batch{command: []string{"sleep"}, items: it, flags: []string{flagJSON}}
	models := l.models(ctx, b, unchecked, []tool{l.ours(0)}, l.sweep(many))
	b.jobs = many
	models = append(models, l.models(ctx, b, unchecked, l.peer(nameXargs), l.peer(nameGNU))...)
	c := l.kase(name, fmt.Sprintf("sleep, %d times; the peers run %d at once", l.sleeps, many), models...)
	return experiment.One(c, experiment.AtMost(1.3, name, nameOurs, jobsName(many), waiting)), err
}

// halves runs jobs that compute and then wait.
func (l *lab) halves(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("compute=%v/wait=%v/jobs=%d", l.half, l.half, l.mixed)
	it, err := l.newItems(name, l.mixed, numbered)
	steps := 1
	if l.prepares(name) {
		steps = load.Steps(l.half)
	}
	b := batch{command: []string{l.job, "-steps", strconv.Itoa(steps), "-wait", l.half.String()}, items: it, flags: []string{flagJSON}}
	printed := func(_ *measure.Meter, output string) error { return it.check(output, 1, false) }
	models := l.models(ctx, b, printed, []tool{l.ours(0)}, l.sweep(l.fewer(1, 2, 3, 4, 6, 8, 16, 32, 64)...), l.peer(nameGNU))
	c := l.kase(name, fmt.Sprintf("%d jobs that compute and then wait", l.mixed), models...)
	return experiment.One(c, experiment.AtMost(1.1, name, nameOurs, result.BestSwept, both)), err
}
