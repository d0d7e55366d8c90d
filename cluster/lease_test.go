package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// The answer to a word makes a lease longer, by the time when the word was sent. It does
// not if it comes when the lease is over: the server may have given the task to another.
func TestAnswerAfterTheLease(t *testing.T) {
	const length = time.Minute
	for late, want := range map[time.Duration]time.Duration{0: 80 * time.Second, 40*time.Second - 1: 80 * time.Second, 40 * time.Second: length} {
		synctest.Test(t, func(t *testing.T) {
			s := newLeases(nil)
			l := &lease{number: 1, length: length, until: s.began.Add(length)}
			s.held[l.number] = l
			time.Sleep(20 * time.Second)
			sent := time.Since(s.began)
			time.Sleep(late)
			s.heard(&nats.Msg{Subject: fmt.Sprintf("inbox.%d.%d", l.number, int64(sent))})
			if got := l.until.Sub(s.began); got != want {
				t.Errorf("answered after %v: the lease is over after %v, want %v", late, got, want)
			}
		})
	}
}

// A word that was not sent yet is not answered: no lease is longer for that.
func TestAnswerFromTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeases(nil)
		l := &lease{number: 1, length: time.Minute, until: s.began.Add(time.Minute)}
		s.held[l.number] = l
		s.heard(&nats.Msg{Subject: fmt.Sprintf("inbox.%d.%d", l.number, int64(time.Hour))})
		if got := l.until.Sub(s.began); got != time.Minute {
			t.Errorf("the lease is over after %v, want %v", got, time.Minute)
		}
	})
}

// A task whose lease is over is another's: it is not given back.
func TestLostIsNotGivenBack(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := newLeases(nil)
		l := &lease{delivery: &delivery{msg: new(nats.Msg)}, leases: s}
		l.lost.Store(lost)
		l.giveBack()
		if l.given == lost {
			t.Errorf("lost: %v, given back: %v", lost, l.given)
		}
	}
}
