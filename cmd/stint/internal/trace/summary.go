package trace

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
)

const (
	maxSlowest = 5
	maxColumns = 60                    // of the picture; a run that is not short has half as many or more
	firstStep  = 50 * time.Millisecond // of a column
)

// A Summary is what the jobs of a run have used. The methods may be called concurrently.
type Summary struct {
	Began time.Time

	mu      sync.Mutex
	cpu     time.Duration
	memory  int64 // bytes, the most of a job
	slowest []slow
	step    time.Duration // of a column
	columns []int         // the limit in the course of the run
	state   limit.State
}

// A slow is one of the slowest jobs, with its longest attempt.
type slow struct {
	seq     int64
	elapsed time.Duration
	command string
}

// Attempt adds an attempt.
func (s *Summary) Attempt(a *Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cpu += a.CPU
	s.memory = max(s.memory, a.MaxRSS)
	i := slices.IndexFunc(s.slowest, func(j slow) bool { return j.seq == a.Seq })
	switch {
	case i >= 0:
		s.slowest[i].elapsed = max(s.slowest[i].elapsed, a.Elapsed)
	case len(s.slowest) < maxSlowest:
		s.slowest = append(s.slowest, slow{a.Seq, a.Elapsed, a.Command()})
	case a.Elapsed > s.slowest[maxSlowest-1].elapsed:
		s.slowest[maxSlowest-1] = slow{a.Seq, a.Elapsed, a.Command()}
	default:
		return
	}
	slices.SortStableFunc(s.slowest, func(a, b slow) int { return cmp.Compare(b.elapsed, a.elapsed) })
}

// Sample adds the limit at present. A column has the last limit of its time. When there are too many,
// each gets the time of two.
func (s *Summary) Sample(now time.Time, state limit.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.step = state, max(s.step, firstStep)
	i := int(now.Sub(s.Began) / s.step)
	for ; i >= maxColumns; i /= 2 {
		s.step *= 2
		for k := range len(s.columns) / 2 {
			s.columns[k] = s.columns[2*k+1]
		}
		s.columns = s.columns[:len(s.columns)/2]
	}
	for len(s.columns) <= i {
		s.columns = append(s.columns, state.Limit)
	}
	s.columns[i] = state.Limit
}

// CPU returns the CPU time of all attempts.
func (s *Summary) CPU() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cpu
}

// Lines returns what is known, some lines without the last newline. cpus is how many CPUs the jobs could use; 0: not known.
func (s *Summary) Lines(wall time.Duration, cpus int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-9s "+format+"\n", append([]any{name}, args...)...)
	}
	busy := fmt.Sprintf("%.1f", s.cpu.Seconds()/max(wall.Seconds(), 1e-3))
	if cpus > 0 {
		busy += fmt.Sprintf(" of %d", cpus)
	}
	line("CPU time", "%s, %s CPUs busy", console.Elapsed(s.cpu), busy)
	if s.memory > 0 {
		line("memory", "%s, the most of a job", console.Bytes(float64(s.memory)))
	}
	if s.state.Limit > 0 {
		line("limit", "%s", strings.TrimSuffix(fmt.Sprintf("%d, %s", s.state.Limit, s.state.Reason), ", "))
		if least, most := slices.Min(s.columns), slices.Max(s.columns); least < most {
			line("", "%s from %d to %d", picture(s.columns, least, most), least, most)
		}
	}
	name := "slowest"
	for _, j := range s.slowest {
		line(name, "%s, job %d: %s", console.Elapsed(j.elapsed), j.seq, j.command)
		name = ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// picture returns a character for each number, a higher one for a larger number.
func picture(numbers []int, least, most int) string {
	levels := []rune("_.-~=+*#")
	locale := strings.ToUpper(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	if strings.HasSuffix(locale, "UTF-8") || strings.HasSuffix(locale, "UTF8") {
		levels = []rune("▁▂▃▄▅▆▇█")
	}
	var b strings.Builder
	for _, n := range numbers {
		b.WriteRune(levels[(n-least)*(len(levels)-1)/(most-least)])
	}
	return b.String()
}
