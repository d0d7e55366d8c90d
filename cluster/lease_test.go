package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// The answer to a heartbeat extends a lease, by the time when the heartbeat was sent. It does not
// after the end of the lease: the server may have given the task away.
func TestAnswerAfterTheLease(t *testing.T) {
	const length = time.Minute
	for late, want := range map[time.Duration]time.Duration{0: 80 * time.Second, 40*time.Second - 1: 80 * time.Second, 40 * time.Second: length} {
		synctest.Test(t, func(t *testing.T) {
			s := newLeases(nil)
			l := &lease{number: 1, length: length, expiry: s.start.Add(length)}
			s.held[l.number] = l
			time.Sleep(20 * time.Second)
			sent := time.Since(s.start)
			time.Sleep(late)
			s.onAnswer(&nats.Msg{Subject: fmt.Sprintf("inbox.%d.%d", l.number, int64(sent))})
			if got := l.expiry.Sub(s.start); got != want {
				t.Errorf("answered after %v: the lease is over after %v, want %v", late, got, want)
			}
		})
	}
}

// An answer to a heartbeat of the future extends no lease.
func TestAnswerFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeases(nil)
		l := &lease{number: 1, length: time.Minute, expiry: s.start.Add(time.Minute)}
		s.held[l.number] = l
		s.onAnswer(&nats.Msg{Subject: fmt.Sprintf("inbox.%d.%d", l.number, int64(time.Hour))})
		if got := l.expiry.Sub(s.start); got != time.Minute {
			t.Errorf("the lease is over after %v, want %v", got, time.Minute)
		}
	})
}

// A task whose lease is over is not given back: another worker may have it.
func TestLostIsNotGivenBack(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := newLeases(nil)
		l := &lease{delivery: &delivery{msg: new(nats.Msg)}, leases: s}
		l.lost.Store(lost)
		l.requeue()
		if l.requeued == lost {
			t.Errorf("lost: %v, given back: %v", lost, l.requeued)
		}
	}
}
