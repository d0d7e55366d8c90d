package stream

import (
	"fmt"
	"slices"
	"sync"
)

// Partition splits s into n streams: each record goes to the stream with index key(r) % n,
// so records with the same key stay together and in order. s runs once, on a goroutine of
// its own.
//
// All n streams must be consumed by the same terminal, each exactly once, for example by
// Merge(branches...) with stages between; otherwise the terminal returns an error, and
// nothing runs. A stream that wants no more, because a Take has enough, drops its records.
// A slow stream holds up the others when its four batches are full. An error of s ends
// every stream, after the records that came before it; Merge waits for them. Partition
// panics if n is less than 1 or more than 1<<20, or key is nil.
func Partition[T any](s Stream[T], n int, key func(T) uint64) []Stream[T] {
	if n < 1 || n > maxBranches {
		panic(fmt.Sprintf("stream: Partition: n is %d, want 1 to %d", n, maxBranches))
	}
	check("Partition", "function", key == nil)
	p := &partition[T]{s: s, n: n, key: key}
	out := make([]Stream[T], n)
	for i := range out {
		out[i] = Stream[T]{
			feed:     func(c *chain, in *lifetime, to sink[T]) { p.receive(c, in, i, to) },
			branches: []branch{{p, i, n, s.branches}},
		}
	}
	return out
}

// maxBranches is more than is useful, and fits into memory.
const maxBranches = 1 << 20

type partition[T any] struct {
	s   Stream[T]
	n   int
	key func(T) uint64
}

// A branch is one of the n streams of a partition, which is identified by its address.
type branch struct {
	of    any
	i, n  int
	above []branch // that the partition itself consumes
}

// A sourceError ends the branches of a partition whose source has failed, each at its
// position. Merge waits for all of them.
type sourceError struct {
	of  any // the partition
	err error
}

func (e *sourceError) Error() string { return e.err.Error() }

// unwrapSource returns the error of the source.
func unwrapSource(err error) error {
	for {
		e, ok := err.(*sourceError)
		if !ok {
			return err
		}
		err = e.err
	}
}

// partitionsOf returns a function that reports whether a consumer of some branches will get
// err too: err has come through their partition, or through a partition whose branches
// theirs consumes.
func partitionsOf(err error) (comesTo func([]branch) bool) {
	partitions := map[any]bool{}
	for e, ok := err.(*sourceError); ok; e, ok = e.err.(*sourceError) {
		partitions[e.of] = true
	}
	comesTo = func(bs []branch) bool {
		return slices.ContainsFunc(bs, func(b branch) bool {
			yes, seen := partitions[b.of]
			if !seen { // look once: many branches have come from it, in many ways
				partitions[b.of] = false
				yes = comesTo(b.above)
			}
			return yes
		})
	}
	return comesTo
}

// checkBranches returns an error unless all branches of each partition are consumed once.
func checkBranches(branches []branch) error {
	consumed := map[any][]int{}
	var count func([]branch)
	count = func(bs []branch) {
		for _, b := range bs {
			if consumed[b.of] == nil {
				consumed[b.of] = make([]int, b.n)
				count(b.above) // once, however many branches are consumed
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

// A partitionRun is a partition in one run.
type partitionRun[T any] struct {
	*partition[T]
	run    *run
	queues []*queue[T] // of the branches

	started sync.Once
	up      *chain // of the source

	mu       sync.Mutex
	consumed int // branches that are still consumed
}

// inRun returns the partition in r.
func (p *partition[T]) inRun(r *run) *partitionRun[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pr, ok := r.partitions[p].(*partitionRun[T]); ok {
		return pr
	}
	pr := &partitionRun[T]{partition: p, run: r, consumed: p.n}
	for range p.n {
		q := newReceiver[T](batchSize[T](), queueBatches).newQueue()
		q.dropped = make(chan struct{})
		pr.queues = append(pr.queues, q)
	}
	if r.partitions == nil {
		r.partitions = map[any]any{}
	}
	r.partitions[p] = pr
	return pr
}

// start runs the source. If no records are wanted, it only leaves the branches of
// partitions that the source consumes.
func (p *partitionRun[T]) start(wanted bool) {
	p.up = p.run.chain(p.run.last.ctx)
	if !wanted {
		p.up.stop()
	}
	senders := make([]*sender[T], p.n)
	for i := range senders {
		senders[i] = newSender(p.up, p.queues[i])
	}
	p.run.start(p.up, func() { p.s.flow(p.up, p.up.lifetime, p.split(senders)) }, func(err error) {
		if err != nil {
			err = &sourceError{p.partition, err}
		}
		for _, s := range senders {
			s.end(err)
		}
	})
}

// split returns a sink that passes each record to the sender of its branch.
func (p *partitionRun[T]) split(senders []*sender[T]) sink[T] {
	p.up.flush = func() {
		for _, s := range senders {
			s.flush()
		}
	}
	n, key := uint64(len(senders)), p.key
	return sink[T]{
		one: func(v T) bool { return senders[key(v)%n].one(v) },
		many: func(vs []T) bool {
			for i := range vs {
				s := senders[key(vs[i])%n]
				if k := s.n; k < len(s.open.items) { // add, which is not inlined
					s.open.items[k] = vs[i]
					s.n = k + 1
				} else if !s.add(vs[i]) {
					return false
				}
			}
			for _, s := range senders {
				if !s.publish() {
					return false
				}
			}
			if p.up.newTick() {
				p.up.flush()
			}
			return true
		},
	}
}

// receive consumes branch i.
func (p *partition[T]) receive(c *chain, in *lifetime, i int, to sink[T]) {
	pr := p.inRun(c.run)
	q := pr.queues[i]
	c.during(func() {
		if in.ctx.Err() != nil {
			return
		}
		pr.started.Do(func() { pr.start(true) })
		q.receiveAll(c, in, to)
	}, func() { pr.leave(q) })
}

// leave drops the records that arrive in q from now on. Leaving the last branch stops the
// source.
func (p *partitionRun[T]) leave(q *queue[T]) {
	close(q.dropped)
	p.mu.Lock()
	p.consumed--
	last := p.consumed == 0
	p.mu.Unlock()
	if last {
		p.started.Do(func() { p.start(false) })
		p.up.stopAndWait()
	}
}
