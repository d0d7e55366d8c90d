package stint_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// warmth is how much of a run is over when measuring begins.
const warmth = 0.25

// bins are parts of a run in which the tasks are counted.
const bins = 200

// A meter looks at the tasks of a run. Its means are over the time after the
// warm-up.
type meter struct {
	horizon time.Duration
	crowd   int            // more tasks than this at once are a crowd
	limiter *stint.Limiter // to be read, or nil

	mu           sync.Mutex
	inside, peak int
	at           time.Duration // when inside changed
	done, failed int           // after the warm-up
	per          [bins]int     // tasks done, in parts of the horizon
	tasks        float64       // inside, summed up over nanoseconds
	crowded      time.Duration
	limits       [2]int // the largest seen in the first half of the run and in the second
}

// measured is task with a look at how many there are.
func (m *meter) measured(task func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		m.change(1, nil)
		err := task(ctx)
		m.change(-1, err)
		return err
	}
}

// change is called when a task begins, and when it ends.
func (m *meter) change(by int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := min(sinceBubble(), m.horizon)
	warm := time.Duration(warmth * float64(m.horizon))
	past := max(0, now-max(m.at, warm))
	m.tasks += float64(m.inside) * float64(past)
	if m.inside > m.crowd {
		m.crowded += past
	}
	m.at = now
	m.inside += by
	m.peak = max(m.peak, m.inside)
	if by > 0 || now == m.horizon {
		return
	}
	m.note(now)
	switch {
	case err != nil && now >= warm:
		m.failed++
	case err == nil && now >= warm:
		m.done++
	}
	if err == nil {
		m.per[now*bins/m.horizon]++
	}
}

// note reads the limit.
func (m *meter) note(now time.Duration) {
	if m.limiter != nil {
		half := now * 2 / m.horizon
		m.limits[half] = max(m.limits[half], m.limiter.Stats().Limit)
	}
}

// rate is how many tasks were done a millisecond.
func (m *meter) rate() float64 {
	return float64(m.done) / ((1 - warmth) * m.horizon.Seconds() * 1000)
}

// mean is how many tasks there were at once.
func (m *meter) mean() float64 { return m.tasks / ((1 - warmth) * float64(m.horizon)) }

// failing is how many of the tasks that ended have failed.
func (m *meter) failing() float64 { return float64(m.failed) / float64(max(1, m.failed+m.done)) }

// crowding is how much of the time was a crowd.
func (m *meter) crowding() float64 {
	return float64(m.crowded) / ((1 - warmth) * float64(m.horizon))
}

// reaches returns how long after the time from three bins in a row had a rate.
func (m *meter) reaches(rate float64, from time.Duration) time.Duration {
	bin := m.horizon / bins
	for i := int(from / bin); i+3 <= bins; i++ {
		done := m.per[i] + m.per[i+1] + m.per[i+2]
		if float64(done) >= rate*3*bin.Seconds()*1000 {
			return max(0, time.Duration(i)*bin-from)
		}
	}
	return m.horizon
}

// What a meter says of tasks that are all alike is exact.
func TestMeter(t *testing.T) {
	p := plant{name: "alike", best: 8, rate: servers(8, 10), task: sleeping(alike, 10)}
	for crowd, crowding := range map[int]float64{7: 1, 8: 0} {
		m := &meter{horizon: time.Second, crowd: crowd}
		p.run(t, 1, m, looped, stint.Limit(8))
		equal(t, "tasks a millisecond", m.rate(), 0.8)
		equal(t, "tasks at once", m.mean(), 8)
		equal(t, "crowding", m.crowding(), crowding)
		equal(t, "a rate that there is", m.reaches(0.5, 0), 0)
		equal(t, "a rate that there never is", m.reaches(2, 0), m.horizon)
	}
}
