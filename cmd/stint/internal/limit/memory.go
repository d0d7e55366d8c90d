package limit

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	reserve    = 20                     // one part of memory in so many stays free
	peakFade   = 0.98                   // what the peak counts for after each job
	ended      = 1                      // byte: the peak if no more is known of jobs that have ended
	patience   = 8                      // looks that must allow a higher limit
	pause      = 100 * time.Millisecond // between two looks at what a job waits for
	manyJobs   = 1 << 30
	noise      = 1 << 19               // bytes, and one part in so many, by which the size of a job differs
	noisePart  = 16                    // though it does not grow
	settled    = 50 * time.Millisecond // in which a job that goes on growing is seen to grow
	rare       = 4                     // one job in so many, or more, makes it unknown what the next ones take
	victims    = 16                    // a process that the kernel kills has one part of memory in so many
	killMemory = 3 * time.Second       // for which it is asked which job the kernel has killed a process of
)

// A size is how much memory a job has.
type size struct {
	rss     float64   // bytes now,
	bytes   float64   // and when it was found to have grown last
	born    time.Time // the job was started,
	grown   time.Time // had grown last,
	still   time.Time // and not for so long
	largest int       // its process with the most memory; 0: the first one, whose end tells
	most    float64   // bytes of that
	killed  bool      // by the kernel
}

// sampled notes what a job has now. A job that wants a CPU may grow when it has got one.
func (s *size) sampled(now time.Time, u machine.Usage, first int) {
	s.rss, s.largest, s.most = float64(u.RSS), u.Largest, float64(u.LargestRSS)
	if s.largest == first {
		s.largest = 0
	}
	switch {
	case s.bytes == 0 || s.rss > about(s.bytes):
		s.bytes, s.grown, s.still = s.rss, now, now
	case !u.Ready:
		s.still = now
	}
}

// about returns what differs so little from a number of bytes that a job has not grown.
func about(bytes float64) float64 { return bytes + max(bytes/noisePart, noise) }

// stable reports whether a job has not grown for as long as it has grown.
func (s *size) stable() bool {
	return s.still.Sub(s.grown) >= max(settled, s.grown.Sub(s.born)) && s.bytes > 0
}

// A memory is how much memory jobs need.
type memory struct {
	spare int64         // bytes that are to stay free; 0: a part of what there is
	peak  float64       // bytes: the most of a job that has ended or is stable; fades
	known float64       // jobs that have ended; fades likewise
	last  [patience]int // what limit returned last but for the others, in turns; 0: nothing
	turn  int
}

// sizes are those of the jobs that run.
type sizes struct {
	running int
	all     float64 // bytes of all
	need    float64 // of a job, when it will have grown; 0: nothing is known
	more    float64 // that the few which grow beyond the peak will have
	grow    bool    // not a few do
}

// finished notes the most bytes that a job has had, as far as they are known.
func (m *memory) finished(most float64) {
	m.peak = max(m.peak*peakFade, most, ended)
	m.known = m.known*peakFade + 1
}

// sizes adds up the jobs that run. A job will take the peak, or has taken more and is stable. How far
// another one will grow is not known: as far again as until now, at least. If not a few do that, the
// next ones may, too.
func (m *memory) sizes(running map[*process.Process]*sample) sizes {
	s := sizes{running: len(running)}
	for _, j := range running {
		if s.all += j.size.rss; j.size.stable() {
			m.peak = max(m.peak, j.size.bytes)
		}
	}
	s.need = m.peak
	largest, growing, known := 0.0, 0.0, m.known
	for _, j := range running {
		switch {
		case j.size.stable():
			known++
		case j.size.bytes > about(m.peak), j.size.bytes > 0 && m.peak <= ended:
			growing++
			largest = max(largest, j.size.bytes)
			s.more += 2*j.size.bytes - m.peak
		}
	}
	if rare*growing > known+growing {
		s.need, s.more, s.grow = max(s.need, 2*largest), 0, true
	}
	return s
}

// owed returns the bytes that the jobs which run will still take.
func (s *sizes) owed() float64 { return max(0, float64(s.running)*s.need+s.more-s.all) }

// limit returns the largest limit that memory allows, at least 1, and why. The limit falls at
// once, and rises when the last looks allow it, since what is available goes up and down. now is
// the present limit. It rises above the number of CPUs if it is known what jobs need.
func (m *memory) limit(now, cpus int, s sizes, has machine.Memory) (int, string) {
	m.last[m.turn%patience] = m.allows(s, has)
	m.turn++
	n := math.MaxInt
	for _, most := range m.last {
		if most > 0 {
			n = min(n, most)
		}
	}
	raised := now
	if !s.grow && s.need > 0 {
		raised = raiseFactor * now
	}
	if most := max(raised, cpus); most < n {
		return most, "how much memory a job takes is not known yet"
	}
	reason := fmt.Sprintf("%s: %d MiB available", has.Bound, has.Available>>20)
	if s.need >= 1<<20 {
		reason += fmt.Sprintf(", up to %.0f MiB a job", s.need/(1<<20))
	}
	return n, reason
}

// allows returns the largest limit that memory has room for now.
func (m *memory) allows(s sizes, has machine.Memory) int {
	room := float64(has.Available) - m.free(has) - s.owed()
	switch {
	case s.need == 0 && room < 0:
		return max(1, s.running)
	case s.need == 0:
		return math.MaxInt
	}
	return max(1, s.running+int(math.Floor(max(-manyJobs, min(room/s.need, manyJobs)))))
}

// free returns how many bytes are to stay free.
func (m *memory) free(has machine.Memory) float64 {
	if m.spare == 0 {
		return float64(has.Total) / reserve
	}
	return float64(m.spare)
}

// Await waits until a job may start that has a permit: the end of a pause, and, if New was given a
// number of bytes, as much free memory as is to stay free, but for what running jobs will still take.
// It calls say once if it has to wait for memory, and returns the cause of ctx if ctx ends.
func (l *Limit) Await(ctx context.Context, say func(available int64)) error {
	for ctx.Err() == nil {
		if l.Ready() {
			return nil
		}
		if available, isEnough := l.available(); !isEnough {
			l.waits.Do(func() { say(available) })
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// Ready reports whether Await would return at once.
func (l *Limit) Ready() bool {
	_, isEnough := l.available()
	return isEnough && l.limiter.Current() > 0
}

// available returns how many bytes running jobs leave, and whether that is enough for another.
func (l *Limit) available() (bytes int64, isEnough bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.memory.spare == 0 {
		return 0, true
	}
	has, known := l.from.memory()
	s := l.memory.sizes(l.running)
	left := float64(has.Available) - s.owed()
	return int64(max(0, left)), !known || left >= l.memory.free(has)
}

// A culprit finds the jobs of which the kernel has killed a process for want of memory. The kernel
// counts such processes, and kills the one with the most memory.
type culprit struct {
	counted int64     // processes
	open    int       // of these, those whose job is not known
	until   time.Time // that is asked
}

// killed marks the jobs whose largest process has vanished since the kernel killed some, if none
// that lives has twice as much, and it had not little: the kernel would have killed another one.
// ended, if it is not nil, is a job whose first process has ended by such a signal: it comes first.
// killed is called with mu held.
func (l *Limit) killed(now time.Time, ended *size) {
	c, kills := &l.culprit, l.from.kills()
	if kills > c.counted {
		c.open, c.until = c.open+int(kills-c.counted), now.Add(killMemory)
	}
	if c.counted = kills; now.After(c.until) {
		c.open = 0
	}
	if c.open > 0 && ended != nil {
		ended.killed = true
		c.open--
	}
	for ; c.open > 0; c.open-- {
		var victim *size
		living := 0.0
		for _, s := range l.running {
			switch {
			case s.size.largest == 0 || l.from.lives(s.size.largest):
				living = max(living, s.size.most)
			case victim == nil || s.size.most > victim.most:
				victim = &s.size
			}
		}
		has, _ := l.from.memory()
		if victim == nil || 2*victim.most < living || victims*victim.most < float64(has.Total) {
			return
		}
		victim.killed, victim.largest, victim.most = true, 0, 0
	}
}
