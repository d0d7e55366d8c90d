package advise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
)

// Names of rows. A fixed limit is limit-8.
const (
	loopName = "loop"
	freeName = "stint.Range" // without an option
	autoName = "stint.Auto"  // adaptive limit up to Most
	parName  = "par.Range"
)

// Amount of measuring.
const (
	minBudget, maxBudget = 5 * time.Second, time.Minute // if none is set

	usualMost = 256
	maxRounds = 20
	minRounds = 6 // rounds that give an interval
)

// errBudget is the cause of a context that ended with the budget.
var errBudget = errors.New("advise: the budget is spent")

// A session is one call of Run.
type session struct {
	*Advice
	Options
	f         func(int)
	item      float64 // ns of an item in the first items
	share     float64 // of CPU time in these; 0: not known
	elsewhere bool    // the work is done by other processes
	others    float64 // processors that other programs used; 0: not known

	sampleTime float64 // ns; shorter runs are repeated
}

// measure takes all samples. Running out of budget is not an error.
func (s *session) measure(ctx context.Context) error {
	if s.N == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.elsewhere = s.CPU != nil
	if s.own == nil {
		s.own = ownCPU
	}
	if s.CPU == nil {
		s.CPU = s.own
	}
	if s.pilot(ctx); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.Advice.Budget = s.Options.Budget; s.Advice.Budget == 0 {
		s.Advice.Budget = min(max(s.needed(s.N), minBudget), maxBudget)
	}
	if all := s.needed(s.N); all > s.Advice.Budget {
		s.Items = min(s.N, max(2, int(float64(s.N)*float64(s.Advice.Budget)/float64(all))))
	}
	s.sampleTime = float64(max(s.Advice.Budget/400, time.Millisecond))
	limited, cancel := context.WithTimeoutCause(ctx, s.Advice.Budget, errBudget)
	defer cancel()
	began, own, all := time.Now(), s.cpu(), busy()
	err := s.rounds(limited)
	if own > 0 && all > 0 {
		s.others = max(0, (busy()-all-s.cpu()+own).Seconds()/time.Since(began).Seconds())
	}
	if errors.Is(err, errBudget) && ctx.Err() == nil {
		return nil
	}
	return err
}

// cpu returns the CPU time used so far; 0: not known.
func (s *session) cpu() time.Duration {
	d, _ := s.CPU()
	return d
}

// pilot times the first items for some milliseconds. The first call may initialize something,
// and counts only if it is the only one.
func (s *session) pilot(ctx context.Context) {
	const long = minBudget / 200
	began, cpu := time.Now(), s.cpu()
	for i, from := 0, 0; i < s.N && (i == 0 || time.Since(began) < long) && ctx.Err() == nil; i++ {
		s.f(i)
		s.item = float64(time.Since(began)) / float64(i+1-from)
		if took := time.Since(began); took >= time.Millisecond {
			s.share = (s.cpu() - cpu).Seconds() / took.Seconds()
		}
		if i == 0 && s.item < float64(long) {
			began, cpu, from = time.Now(), s.cpu(), 1
		}
	}
}

// waits reports whether the first items are known to wait.
func (s *session) waits() bool { return s.share > 0 && s.share <= waiting }

// needed returns the budget for minRounds+1 rounds of n items, in which a round is about 4.5
// loops of a function that computes: limit-1 takes as long, and five others half of it. Half
// of the budget is spare, as the first items may have been fast.
func (s *session) needed(n int) time.Duration {
	loops := 50.0
	if s.waits() {
		loops = 25
	}
	return time.Duration(min(loops*float64(n)*s.item, math.MaxInt64/4))
}

// rounds takes the first round, which determines the models, and more rounds until there are
// enough or the next one would take too long.
func (s *session) rounds(ctx context.Context) error {
	end, _ := ctx.Deadline()
	began := time.Now()
	if err := s.explore(ctx); err != nil {
		return err
	}
	for range maxRounds {
		if took := time.Since(began); time.Until(end) < took {
			return nil
		}
		began = time.Now()
		for _, r := range s.Rows {
			if err := s.sample(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// explore takes the first sample of each model. The limit is doubled until that gains no
// more: a tenth of the time in one of the last two steps, as one may be an accident.
func (s *session) explore(ctx context.Context) error {
	most := s.Most
	if most == 0 {
		most = max(usualMost, runtime.GOMAXPROCS(0))
	}
	loop, err := s.add(ctx, loopName, 0, "for i := range n {\n\tf(i)\n}", func(ctx context.Context) error {
		s.each(ctx, 0, s.Items)
		return nil
	})
	if err != nil || s.Items < 2 || most < 2 {
		return err
	}
	if first := s.Rows[0]; s.share > 0 && len(first.cpu) > 0 { // of two shares, other programs made the smaller one smaller
		s.share = max(s.share, first.cpu[0]/first.times[0])
	}
	name, option := freeName, ""
	if s.Most > 0 {
		name, option = autoName, fmt.Sprintf("stint.Auto(1, %d)", most)
	}
	_, err = s.add(ctx, name, 0, rangeCall(option), func(ctx context.Context) error {
		limiter := stint.Auto(1, most) // without an option there is an equal one
		defer func() { s.Limit = float64(limiter.Stats().Limit) }()
		return s.ranged(ctx, limiter)
	})
	if err == nil && !s.elsewhere && !s.waits() && most >= runtime.GOMAXPROCS(0) {
		_, err = s.add(ctx, parName, 0, "par.Range(n, func(lo, hi int) {\n\tfor i := lo; i < hi; i++ {\n\t\tf(i)\n\t}\n})", func(ctx context.Context) error {
			par.Range(s.Items, func(lo, hi int) { s.each(ctx, lo, hi) })
			return nil
		})
	}
	k, idle, best := 1, 0, math.Inf(1)
	if s.waits() { // the loop stands for limit 1
		k, best = 2, loop
	}
	for end := min(most, s.Items); err == nil; k = min(2*k, end) {
		limit, t := k, 0.0
		t, err = s.add(ctx, fmt.Sprintf("limit-%d", k), k, rangeCall(fmt.Sprintf("stint.Limit(%d)", k)), func(ctx context.Context) error {
			return s.ranged(ctx, stint.Limit(limit))
		})
		if idle++; t < 0.9*best {
			idle, best = 0, t
		}
		if k == end {
			s.Highest = fmt.Sprintf("there was no larger limit, for %s and at most %d concurrently", count(s.Items), most)
			break
		} else if idle == 2 {
			s.Highest = "larger limits were not tried, as the last two gained less than a tenth"
			break
		}
	}
	return err
}

// add adds a row and takes samples of growing length until one is long enough, which it
// keeps. It returns the time of a run.
func (s *session) add(ctx context.Context, name string, limit int, call string, run func(context.Context) error) (ns float64, err error) {
	r := &Row{Name: name, Limit: limit, Call: call, run: run, reps: 1}
	for {
		r.times, r.cpu = nil, nil
		if err := s.sample(ctx, r); err != nil {
			return 0, err
		}
		if r.times[0]*float64(r.reps) >= s.sampleTime || r.reps > 1<<26 {
			s.Rows = append(s.Rows, r)
			return r.times[0], nil
		}
		r.reps = min(8*r.reps, 1+int(1.2*s.sampleTime/max(r.times[0], 0.1)))
	}
}

// sample takes a sample. It checks the context only now and then, since a check takes longer
// than some lists.
func (s *session) sample(ctx context.Context, r *Row) error {
	began, cpu := time.Now(), s.cpu()
	for rep := range r.reps {
		if rep%max(1, r.reps/20) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.run(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	took := float64(time.Since(began))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.times = append(r.times, took/float64(r.reps))
	if cpu > 0 {
		r.cpu = append(r.cpu, float64(s.cpu()-cpu)/float64(r.reps))
	}
	return nil
}

// each runs f from lo to hi. It checks the context about every millisecond.
func (s *session) each(ctx context.Context, lo, hi int) {
	f, some := s.f, 1+int(min(float64(time.Millisecond)/max(s.item, 1), 1e6))
	for ; lo < hi && ctx.Err() == nil; lo += some {
		for i := lo; i < min(lo+some, hi); i++ {
			f(i)
		}
	}
}

func (s *session) ranged(ctx context.Context, limit *stint.Limiter) error {
	f := s.f
	return stint.Range(ctx, s.Items, func(_ context.Context, i int) error { f(i); return nil }, limit)
}

// rangeCall returns the code of a call of stint.Range.
func rangeCall(option string) string {
	if option != "" {
		option = ", " + option
	}
	return "err := stint.Range(ctx, n, func(ctx context.Context, i int) error {\n\tf(i)\n\treturn nil\n}" + option + ")"
}

// busy returns the CPU time that all programs have used, or 0 if the system does not tell.
func busy() time.Duration {
	text, _ := os.ReadFile("/proc/stat") // Linux alone has it
	var user, nice, system, idle, wait, irq, soft, steal int64
	fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	return time.Duration(user+nice+system+irq+soft+steal) * 10 * time.Millisecond
}
