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
	maxColumns = 60 // of the picture; a run that is not short has half as many or more
)

// A Summary is what the jobs of a run have used. The methods may be called concurrently.
type Summary struct {
	Began time.Time

	mu      sync.Mutex
	cpu     time.Duration
	memory  int64 // bytes, the most of a job
	slowest []slow
	samples int
	step    int   // samples of a column
	columns []int // the limit in the course of the run
	state   limit.State
}

// A slow is one of the slowest jobs, with its longest attempt.
type slow struct {
	seq     int64
	elapsed time.Duration
	command func() string
}

// Attempt adds an attempt.
func (s *Summary) Attempt(a *Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cpu += a.CPU
	s.memory = max(s.memory, a.MaxRSS)
	if i := slices.IndexFunc(s.slowest, func(j slow) bool { return j.seq == a.Seq }); i >= 0 {
		s.slowest[i].elapsed = max(s.slowest[i].elapsed, a.Elapsed)
	} else {
		s.slowest = append(s.slowest, slow{a.Seq, a.Elapsed, a.Command})
	}
	slices.SortStableFunc(s.slowest, func(a, b slow) int { return cmp.Compare(b.elapsed, a.elapsed) })
	s.slowest = s.slowest[:min(len(s.slowest), maxSlowest)]
}

// Sample adds the limit at present: it must be called at regular times. When there are too many
// columns, every second one is left out.
func (s *Summary) Sample(state limit.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.step = state, max(s.step, 1)
	if s.samples++; s.samples%s.step > 0 {
		return
	}
	if s.columns = append(s.columns, state.Limit); len(s.columns) == maxColumns {
		for i := range maxColumns / 2 {
			s.columns[i] = s.columns[2*i+1]
		}
		s.columns, s.step = s.columns[:maxColumns/2], 2*s.step
	}
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
		columns := append(s.columns, s.state.Limit)
		if least, most := slices.Min(columns), slices.Max(columns); least < most {
			line("", "%s from %d to %d", picture(columns, least, most), least, most)
		}
	}
	name := "slowest"
	for _, j := range s.slowest {
		line(name, "%s, job %d: %s", console.Elapsed(j.elapsed), j.seq, j.command())
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
