package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// A shop handles orders, which are numbered for each customer. It outlives the consumers.
type shop struct {
	crash int // about once in so many messages; 0 is never

	mu                sync.Mutex
	next              map[string]int // order of each customer
	once, again, gaps int            // messages handled
}

// handle is the handler of a consumer.
func (s *shop) handle(ctx context.Context, m message) error {
	timer := time.NewTimer(time.Duration(1+rand.IntN(5)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	number, err := strconv.Atoi(m.text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch next := s.next[m.key]; {
	case number == next:
		s.next[m.key]++
		s.once++
	case number < next:
		s.again++ // a consumer crashed before it had committed this one: nothing is left to do
	default:
		s.gaps++ // earlier orders are missing
	}
	if s.crash > 0 && rand.IntN(s.crash) == 0 {
		return errCrash
	}
	return nil
}

// serve runs consumers one after the other until all messages have been handled, and
// prints what they did.
func (s *shop) serve(ctx context.Context, c *consumer, messages int, w io.Writer) error {
	for n := 1; ; n++ {
		from, err := c.broker.committed(ctx)
		if err != nil {
			return err
		}
		ended := c.run(ctx)
		to, err := c.broker.committed(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "consumer %d: offsets %v to %v", n, from, to)
		if ended == nil {
			fmt.Fprintln(w, ": all handled")
			break
		}
		fmt.Fprintf(w, ": %v\n", ended)
		if !errors.Is(ended, errCrash) {
			return ended
		}
	}
	fmt.Fprintf(w, "%d messages handled, %d of them again, %d lost, %d too early\n", s.once, s.again, messages-s.once, s.gaps)
	if s.once != messages || s.gaps > 0 {
		return errors.New("messages were lost or out of order")
	}
	return nil
}
