// Package items reads the items of jobs from lists, files and standard input.
package items

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
)

// Items are the items of all jobs.
//
// With several sources a combination has an item of each, and the last source varies
// fastest. An item that ColSep splits counts as several in its place. If a source is
// empty, there is no combination.
type Items struct {
	o     Options
	first source     // read as the jobs need it
	rest  [][]string // the other sources
}

// Open opens the first source, and reads the others into memory: it blocks meanwhile. An
// error names its source. The end of Seq closes the first one.
func Open(o Options) (*Items, error) {
	if len(o.Files)+len(o.Lists) == 0 {
		o.Files = []string{"-"}
	}
	if i := slices.Index(o.Files, "-"); i >= 0 && slices.Contains(o.Files[i+1:], "-") {
		return nil, &sourceError{"standard input", errors.New("it cannot be read twice")}
	}
	it := &Items{o: o}
	if len(o.Files) == 0 {
		it.first.list, it.rest = o.Lists[0], o.Lists[1:]
		return it, nil
	}
	var err error
	if it.first, err = open(&it.o, o.Files[0]); err != nil {
		return nil, err
	}
	for _, name := range o.Files[1:] {
		list, err := read(&it.o, name)
		if err != nil {
			it.first.close()
			return nil, err
		}
		it.rest = append(it.rest, list)
	}
	it.rest = append(it.rest, o.Lists...)
	return it, nil
}

// Bound makes the jobs smaller that Budget bounds: the sum of cost over their items is at most
// budget, too.
func (it *Items) Bound(budget int, cost func(item string) int) {
	if it.o.Budget > 0 {
		before := it.o.Cost
		it.o.Budget, it.o.Cost = min(it.o.Budget, budget), func(item string) int { return max(before(item), cost(item)) }
	}
}

// Total returns the number of jobs, or -1 if only the end of Seq will tell.
func (it *Items) Total() int {
	n := -1
	if it.first.file == nil {
		n = len(it.first.list)
	}
	for _, list := range it.rest {
		switch {
		case len(list) == 0:
			return 0
		case n > math.MaxInt/len(list):
			n = -1
		case n >= 0:
			n *= len(list)
		}
	}
	if n <= 0 {
		return n
	}
	if it.o.Fit || it.o.MaxArgs > 1 && it.o.Budget > 0 {
		return -1
	}
	return (n-1)/max(1, it.o.MaxArgs) + 1
}

// Seq returns the items of each job. The caller owns the slices. The loop reads the
// first source as it goes, and blocks while nothing comes; with Fit, it holds items
// for Jobs jobs back until more come or the source ends.
//
// After an error the loop ends, and items that were held back are dropped. The end of
// ctx is an error, its cause, but does not wake a loop that blocks: the reader must
// fail by itself. Seq may be called once.
func (it *Items) Seq(ctx context.Context) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		defer it.first.close()
		it.pack(it.combinations(ctx), yield)
	}
}

// combinations yields the columns of each combination.
func (it *Items) combinations(ctx context.Context) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if it.Total() == 0 {
			return
		}
		for item, err := range it.first.items() {
			if err != nil {
				yield(nil, err)
				return
			}
			if !it.product(ctx, it.appendColumns(nil, item), it.rest, yield) {
				return
			}
		}
	}
}

// product yields the combinations that begin with prefix.
func (it *Items) product(ctx context.Context, prefix []string, rest [][]string, yield func([]string, error) bool) bool {
	if len(rest) == 0 {
		if err := context.Cause(ctx); err != nil {
			yield(nil, err)
			return false
		}
		return yield(prefix, nil)
	}
	prefix = slices.Clip(prefix) // append copies, and each combination is a slice of its own
	for _, item := range rest[0] {
		if !it.product(ctx, it.appendColumns(prefix, item), rest[1:], yield) {
			return false
		}
	}
	return true
}

// appendColumns appends an item, or what ColSep splits it into.
func (it *Items) appendColumns(to []string, item string) []string {
	columns := []string{item}
	if it.o.ColSep != nil && item != "" { // Split returns no column for "" in some cases
		columns = it.o.ColSep.Split(item, -1)
	}
	for _, c := range columns {
		if it.o.Trim {
			c = strings.Trim(c, " \t\n\v\f\r")
		}
		to = append(to, c)
	}
	return to
}
