package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The conclusions.
const (
	linear  = "stint run takes a million items in 40 MB, and four times as many in four times the time."
	bounded = "stint run keeps the output of later jobs in order without keeping it in memory."
)

// arguments gives all items to few jobs.
func (l *lab) arguments(ctx context.Context) (experiment.Study, error) {
	b := batch{command: []string{"echo"}, flags: []string{"-X"}, ordered: true, fit: true}
	return l.million(ctx, "fit", "echo with as many items as fit, -X", b, l.peer(nameXargs), l.peer(nameGNU))
}

// dryRun shows a command for each item.
func (l *lab) dryRun(ctx context.Context) (experiment.Study, error) {
	b := batch{command: []string{"echo"}, flags: []string{"--dry-run"}, ordered: true}
	return l.million(ctx, "dry-run", "echo for each item, which is shown and not run", b)
}

// million reads many items, and a quarter of them.
func (l *lab) million(ctx context.Context, name, doc string, b batch, peers ...[]tool) (experiment.Study, error) {
	var st experiment.Study
	var errs []error
	for _, n := range []int{l.items / 4, l.items} {
		kase := fmt.Sprintf("%s/items=%d", name, n)
		it, err := l.newItems(kase, n, numbered)
		errs = append(errs, err)
		b.items = it
		all := func(_ *measure.Meter, output string) error { return it.check(output, 1, true) }
		st.Cases = append(st.Cases, l.kase(kase, doc, l.models(ctx, b, all, append([][]tool{{l.ours(0)}}, peers...)...)...))
	}
	few, many := st.Cases[0].Name, st.Cases[1].Name
	st.Claims = []result.Claim{
		atMost(40e6, measure.PeakRSS, many, linear),
		experiment.Across(5, many, few, nameOurs, linear),
	}
	return st, errors.Join(errs...)
}

// output runs a first job that lasts until the others have printed much.
func (l *lab) output(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("print=%s/jobs=%d", megabytes(int64(l.bytes)), l.outputs)
	it, err := l.newItems(name, l.outputs+1, numbered)
	last := l.file("last")
	b := batch{items: it, ordered: true}
	b.command = []string{l.job, "-print", strconv.Itoa(l.bytes), "-until", last, "-last", strconv.Itoa(l.outputs)}
	repeat := l.bytes / (len(numbered(0)) + 1)
	all := func(_ *measure.Meter, output string) error { return it.check(output, repeat, true) }
	models := l.models(ctx, b, all, []tool{l.ours(0)}, l.peer(nameGNU))
	for i, m := range models {
		models[i].Run = func(meter *measure.Meter) error {
			if err := os.Remove(last); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return m.Run(meter)
		}
	}
	c := l.kase(name, fmt.Sprintf("%d jobs print %s each, and the first of all lasts as long, with output in order", l.outputs, megabytes(int64(l.bytes))), models...)
	return experiment.One(c, atMost(100e6, measure.PeakRSS, name, bounded)), err
}
