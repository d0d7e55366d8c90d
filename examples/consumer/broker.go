package main

import (
	"context"
	"hash/crc32"
	"io"
	"slices"
	"sync"
)

// A message belongs to a key. Messages of one key are in one partition, in order.
type message struct {
	partition, offset int
	key, text         string
}

// A broker keeps messages, and for each partition how far its consumer has come. It stands
// for a service that outlives the consumers.
type broker interface {
	// committed returns the offset of the first message of each partition that may not
	// have been handled.
	committed(ctx context.Context) ([]int, error)
	// poll returns the next messages from these offsets on. It blocks until there are
	// some. After the last message of a closed broker it returns io.EOF.
	poll(ctx context.Context, from []int) ([]message, error)
	// commit says that all messages of a partition before an offset have been handled.
	commit(ctx context.Context, partition, offset int) error
}

// memory is a broker in memory.
type memory struct {
	mu   sync.Mutex
	logs [][]message // by partition
	done []int
	more chan struct{} // closed at the next change
	last bool          // no messages will be added
}

func newMemory(partitions int) *memory {
	return &memory{logs: make([][]message, partitions), done: make([]int, partitions), more: make(chan struct{})}
}

// add adds a message at the end of its key's partition.
func (b *memory) add(key, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := int(crc32.ChecksumIEEE([]byte(key)) % uint32(len(b.logs)))
	b.logs[p] = append(b.logs[p], message{p, len(b.logs[p]), key, text})
	b.change()
}

// close says that no messages will be added.
func (b *memory) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = true
	b.change()
}

// change wakes those that poll.
func (b *memory) change() {
	close(b.more)
	b.more = make(chan struct{})
}

func (b *memory) committed(context.Context) ([]int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.done), nil
}

func (b *memory) poll(ctx context.Context, from []int) ([]message, error) {
	for {
		batch, more, last := b.next(from)
		switch {
		case len(batch) > 0:
			return batch, nil
		case last:
			return nil, io.EOF
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// next returns up to 10 messages of each partition, and what to wait for if there are none.
func (b *memory) next(from []int) (batch []message, more chan struct{}, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, log := range b.logs {
		batch = append(batch, log[from[p]:min(from[p]+10, len(log))]...)
	}
	return batch, b.more, b.last
}

func (b *memory) commit(_ context.Context, partition, offset int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done[partition] = offset
	return nil
}
