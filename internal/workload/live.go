package workload

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrFull is the error of a task that was rejected.
var ErrFull = errors.New("full")

// A Live is a workload whose tasks run in a bubble: its servers follow the bubble's clock.
type Live struct {
	Meter

	mu      sync.Mutex
	rng     *rand.Rand
	service *service
	start   time.Time
	timer   *time.Timer // for the next end of a part
}

// NewLive returns a workload whose time begins now.
func NewLive(w *Workload, seed uint64) *Live {
	l := &Live{Meter: newMeter(w), rng: newRand(seed), start: time.Now()}
	if w.Total == 0 {
		l.rng = rand.New(&deck{rng: l.rng})
	}
	l.service = newService(w, func(j *job) { close(j.left) })
	return l
}

// Task is a task. It returns when the job has gone through its parts.
func (l *Live) Task(context.Context) error {
	j := &job{left: make(chan struct{})}
	l.mu.Lock()
	l.count(l.enter)
	j.compute, j.wait, j.serve = l.w.Next(l.service.now, l.rng)
	if j.compute == touch {
		j.compute = 0 // spares the timer of the CPUs, at which tasks of one duration would part
	}
	l.service.begin(j)
	l.arm()
	l.mu.Unlock()
	<-j.left
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(func() {
		l.ended(j.rejected)
		l.Running--
	})
	if j.rejected {
		return ErrFull
	}
	return nil
}

// Stop ends the counting, at the end of w.Until at the latest.
func (l *Live) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(func() {})
}

// count brings the servers and the meter up to date, and calls f, unless the run is over.
func (l *Live) count(f func()) {
	now := milliseconds(time.Since(l.start))
	for at := l.service.next(); at <= now; at = l.service.next() {
		l.service.step(at)
	}
	l.service.now = now
	if over := l.w.Until > 0 && now >= l.w.Until; over {
		l.pass(l.w.Until)
	} else {
		l.pass(now)
		f()
	}
}

// arm sets the timer for the next end of a part.
func (l *Live) arm() {
	at := l.service.next()
	if math.IsInf(at, 1) {
		return
	}
	wait := max(1, time.Duration(math.Ceil((at-l.service.now)*float64(time.Millisecond))))
	if l.timer != nil {
		l.timer.Reset(wait)
		return
	}
	l.timer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count(func() {})
		l.arm()
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A deck is a source of random numbers that are evenly spread: each card, a number of 8
// bits, is dealt once before the deck is shuffled. The sums of independent durations vary
// so much that a run would have to be ten times as long.
type deck struct {
	rng   *rand.Rand
	cards []int
	shift uint8
}

func (d *deck) Uint64() uint64 {
	if len(d.cards) == 0 {
		d.cards, d.shift = d.rng.Perm(256), uint8(d.rng.Uint32())
	}
	card := uint64(d.cards[0])
	d.cards = d.cards[1:]
	// Float64 takes its first bits from bit 52 on. ExpFloat64 and NormFloat64 take a layer
	// from the bits above 32 and the position in it from those below.
	position := uint64(bits.Reverse8(uint8(card)) ^ d.shift)
	return d.rng.Uint64()&^(0xff<<45|0xff<<32|0xff<<24) | card<<45 | card<<32 | position<<24
}
