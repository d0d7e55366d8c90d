package stream

import (
	"fmt"
	"slices"
	"sync"
)

// Partition deals the records of s out to n streams: each goes to that with the index
// key(r) % n, so records with the same key stay together and in their order. s runs once,
// on a goroutine of its own.
//
// All n streams must be consumed by the same terminal, each once, as by
// Merge(branches...) with stages between; otherwise the terminal returns an error,
// and nothing runs. A stream of which no more is wanted, since a Take has all that
// it wants, drops what comes for it. One that is slow holds the others up once its
// four batches are full. An error of s ends each of them, after the records that
// came before it; Merge waits for them then. Partition panics if n is less than 1 or
// more than 1<<20, or key is nil.
func Partition[T any](s Stream[T], n int, key func(T) uint64) []Stream[T] {
	if n < 1 || n > mostLanes {
		panic(fmt.Sprintf("stream: Partition: n is %d, want 1 to %d", n, mostLanes))
	}
	check("Partition", "function", key == nil)
	p := &partition[T]{s: s, n: n, key: key}
	out := make([]Stream[T], n)
	for i := range out {
		out[i] = Stream[T]{
			feed:     func(g *segment, in *scope, to sink[T]) { p.receive(g, in, i, to) },
			branches: []branch{{p, i, n, s.branches}},
		}
	}
	return out
}

// mostLanes is far above what has any use, and below what cannot be had.
const mostLanes = 1 << 20

type partition[T any] struct {
	s   Stream[T]
	n   int
	key func(T) uint64
}

// A branch is one of the n streams of a partition, which is known by its address.
type branch struct {
	of    any
	i, n  int
	above []branch // those that the partition itself consumes
}

// A sourceError is what the branches of a partition end with when what is before it has
// ended with an error: each at its position. Who merges them waits for all.
type sourceError struct {
	of  any // the partition
	err error
}

func (e *sourceError) Error() string { return e.err.Error() }

// plain returns the error as the user knows it.
func plain(err error) error {
	for {
		e, ok := err.(*sourceError)
		if !ok {
			return err
		}
		err = e.err
	}
}

// reach returns a function that reports whether err will come to who consumes some
// branches too.
func reach(err error) func([]branch) bool {
	of := map[any]bool{} // partitions that err has come through
	for e, ok := err.(*sourceError); ok; e, ok = e.err.(*sourceError) {
		of[e.of] = true
	}
	seen := map[any]bool{} // others: each is above many branches, on many ways
	var reaches func([]branch) bool
	reaches = func(bs []branch) bool {
		return slices.ContainsFunc(bs, func(b branch) bool {
			if of[b.of] || seen[b.of] {
				return of[b.of]
			}
			seen[b.of] = true
			return reaches(b.above)
		})
	}
	return reaches
}

// complete returns an error unless all branches of each partition are consumed, once.
func complete(branches []branch) error {
	consumed := map[any][]int{}
	var count func([]branch)
	count = func(bs []branch) {
		for _, b := range bs {
			if consumed[b.of] == nil {
				consumed[b.of] = make([]int, b.n)
				count(b.above) // it runs once, whatever consumes it
			}
			consumed[b.of][b.i]++
		}
	}
	count(branches)
	for _, times := range consumed {
		for i, t := range times {
			if t != 1 {
				return fmt.Errorf("stream: branch %d of a Partition of %d is consumed %d times, want once in the same terminal", i, len(times), t)
			}
		}
	}
	return nil
}

// lanes are the branches of a partition in one run.
type lanes[T any] struct {
	made  sync.Once
	lines []*line[T]

	begun sync.Once
	up    *segment

	mu    sync.Mutex
	taken int // branches that are consumed still
}

// lanes returns those of r.
func (p *partition[T]) lanes(r *run) *lanes[T] {
	r.mu.Lock()
	l, ok := r.lanes[p].(*lanes[T])
	if !ok {
		l = &lanes[T]{taken: p.n}
		if r.lanes == nil {
			r.lanes = map[any]any{}
		}
		r.lanes[p] = l
	}
	r.mu.Unlock()
	l.made.Do(func() {
		for range p.n {
			line := newInlet[T](batchSize[T](), batches).line()
			line.gone = make(chan struct{})
			l.lines = append(l.lines, line)
		}
	})
	return l
}

// begin begins what is before the lanes. If no more is wanted it makes nothing, but
// leaves the branches of partitions that it consumes.
func (l *lanes[T]) begin(p *partition[T], r *run, none bool) {
	l.up = r.segment(r.last, r.last.ctx)
	if none {
		l.up.stop()
	}
	outs := make([]*outlet[T], p.n)
	for i := range outs {
		outs[i] = newOutlet(l.up, l.lines[i])
	}
	r.begin(l.up, func() { p.s.flow(l.up, l.up.scope, p.deal(l.up, outs)) }, func(err error) {
		if err != nil {
			err = &sourceError{p, err}
		}
		for _, o := range outs {
			o.end(err)
		}
	})
}

// deal returns the sink that puts records into their lanes.
func (p *partition[T]) deal(g *segment, outs []*outlet[T]) sink[T] {
	g.flush = func() {
		for _, o := range outs {
			o.flush()
		}
	}
	n := uint64(len(outs))
	return sink[T]{
		one: func(v T) bool { return outs[p.key(v)%n].one(v) },
		many: func(vs []T) bool {
			for i := range vs {
				o := outs[p.key(vs[i])%n]
				if k := o.n; k < len(o.open.items) { // add, which is not inlined
					o.open.items[k] = vs[i]
					o.n = k + 1
				} else if !o.add(vs[i]) {
					return false
				}
			}
			for _, o := range outs {
				if !o.publish() {
					return false
				}
			}
			if g.hurry() {
				g.flush()
			}
			return true
		},
	}
}

// receive consumes branch i.
func (p *partition[T]) receive(g *segment, in *scope, i int, to sink[T]) {
	l := p.lanes(g.run)
	line := l.lines[i]
	defer p.leave(g.run, l, line)
	if in.ctx.Err() != nil {
		return
	}
	l.begun.Do(func() { l.begin(p, g.run, false) })
	line.receiveAll(g, in, to)
}

// leave drops what comes for a lane from now on. The last one ends what is before.
func (p *partition[T]) leave(r *run, l *lanes[T], line *line[T]) {
	close(line.gone)
	l.mu.Lock()
	l.taken--
	last := l.taken == 0
	l.mu.Unlock()
	if last {
		l.begun.Do(func() { l.begin(p, r, true) })
		l.up.end()
	}
}
