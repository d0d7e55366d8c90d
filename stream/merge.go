package stream

import (
	"cmp"
	"slices"
)

// Merge runs several streams at the same time, each on a goroutine of its own, and
// returns their records as they come, of several that are ahead in turn. Those of
// one stream stay in their order. It ends when all have ended, or with the first
// error of one, which cancels the others. Merge() has no records.
func Merge[T any](ss ...Stream[T]) Stream[T] {
	ss = slices.Clone(ss)
	var all []branch
	for _, s := range ss {
		all = append(all, s.branches...)
	}
	return Stream[T]{branches: all, feed: func(g *segment, in *scope, to sink[T]) {
		from := newInlet[T](batchSize[T](), batches)
		lines := make([]*line[T], len(ss))
		ups := make([]*segment, len(ss))
		for i, s := range ss {
			lines[i] = from.line()
			ups[i] = spawn(g, in, s, lines[i])
		}
		defer func() {
			for _, up := range ups {
				up.stop()
			}
			for _, up := range ups {
				up.end()
			}
		}()
		merge(g, in, ss, from, lines, to)
	}}
}

// merge hands on what comes from ss, over lines, until the end of all or an error. If
// that is one of the source of several of them it comes from each, and all that they have
// before it is handed on. It takes a step of each in turn: none has to wait until the
// batches of another are consumed.
func merge[T any](g *segment, in *scope, ss []Stream[T], from *inlet[T], lines []*line[T], to sink[T]) {
	var err error
	waiting := make([][]*batch[T], len(ss)) // of each line
	arrived := func(b *batch[T]) {
		i := slices.Index(lines, b.from.to.(*line[T]))
		waiting[i] = append(waiting[i], b)
	}
	open, n := slices.Clone(ss), len(ss) // that have not ended
	for i, have := 0, 0; n > 0; i = (i + 1) % len(ss) {
		for b := from.poll(); b != nil; b = from.poll() {
			arrived(b)
			have++
		}
		if have == 0 {
			b, _ := from.next(g, in, nil)
			if b == nil {
				return
			}
			arrived(b)
			have++
		}
		if len(waiting[i]) == 0 {
			continue
		}
		b := waiting[i][0]
		if b.last {
			open[i], n = Stream[T]{}, n-1
			err = cmp.Or(err, b.err)
			if err != nil && !comesAgain(err, open) {
				g.fail(err)
				return
			}
		} else {
			step := b.items[b.given:min(b.given+g.steps, b.n)]
			if !pump(g, step, to) {
				return
			}
			if b.given += len(step); b.given < b.n {
				continue
			}
			b.given = 0
			b.recycle()
		}
		waiting[i] = slices.Delete(waiting[i], 0, 1)
		have--
	}
}

// comesAgain reports whether err will come from one of open too.
func comesAgain[T any](err error, open []Stream[T]) bool {
	reaches := reach(err)
	return slices.ContainsFunc(open, func(s Stream[T]) bool { return reaches(s.branches) })
}
