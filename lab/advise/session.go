package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Amount of measuring.
const (
	minIntervalRounds = 6  // rounds that give an interval
	maxRounds         = 20 // rounds
	minItems          = 4  // items that suffice if minIntervalRounds of more would take too long

	// Approximate time of a round relative to the loop. If f computes on two
	// processors, a round is the loop, limit-1, and five others that take half
	// as long. If it waits, there is no limit-1, and each limit takes half the
	// time of the one before.
	computingRound = 4.5
	waitingRound   = 2.25

	// plannedPart is the planned part of the budget, as the first items may
	// have been fast.
	plannedPart = 0.6

	shortest = time.Millisecond      // sample
	longest  = 20 * time.Millisecond // sample made by repetition
)

// errBudget is the cause of a context that ended with the budget.
var errBudget = errors.New("advise: the budget is spent")

// A session is one call of Run.
type session struct {
	options
	list      list
	advice    *Advice
	models    []*model
	reps      []int         // runs per sample of each model
	target    time.Duration // length of samples that can be repeated
	maxRounds int           // rounds
	watch     measure.Watch
	seen      stint.LimiterStats
	observed
}

func newSession(n int, f func(int), o options) *session {
	target := min(max(o.budget/(12*maxRounds), shortest), longest)
	return &session{
		options:   o,
		list:      list{n: n, f: f, chunk: n},
		target:    target,
		maxRounds: maxRounds,
		advice:    &Advice{N: n, Items: n, Budget: o.budget, cores: runtime.NumCPU(), Result: &result.Result{Experiment: "advise", Workload: "a function of the user's"}},
	}
}

// measure takes all samples. Running out of budget is not an error.
func (s *session) measure(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r := s.advice.Result
	r.Machine, r.Processors = measure.Here(), runtime.GOMAXPROCS(0)
	if s.list.n == 0 {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.budget, errBudget)
	defer cancel()
	defer s.busy()()
	err := s.rounds(limited)
	if errors.Is(err, errBudget) && ctx.Err() == nil {
		s.budgetSpent = true
		return nil
	}
	return err
}

// busy measures other programs until end is called.
func (s *session) busy() (end func()) {
	own, known := s.cpu()
	began := time.Now()
	s.watch.Start()
	return func() {
		if now, ok := s.cpu(); ok && known {
			s.watch.Stop(&measure.Usage{Wall: time.Since(began), CPU: now - own})
			s.advice.Result.Machine.Others = s.watch.Others()
		}
	}
}

// rounds takes the first round, which determines the models, and more rounds
// until there are enough or the next one would take too long.
func (s *session) rounds(ctx context.Context) error {
	if err := s.pilot(ctx); err != nil {
		return err
	}
	end, _ := ctx.Deadline()
	began := time.Now()
	if err := s.explore(ctx); err != nil {
		return err
	}
	if n := s.refit(time.Until(end)); n < s.list.n {
		s.useFirst(n)
		began = time.Now()
		if err := s.explore(ctx); err != nil {
			return err
		}
	}
	for range s.maxRounds {
		took := time.Since(began)
		if time.Until(end) < took {
			s.budgetSpent = true
			return nil
		}
		began = time.Now()
		for i := range s.models {
			if _, err := s.sample(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// pilot times the first items in a loop, the first one in any case, doubling their number, to
// determine how many can be measured.
func (s *session) pilot(ctx context.Context) error {
	l := &s.list
	cpu, known := s.cpu()
	began := time.Now()
	for lo, size := 0, 1; lo < l.n && (lo == 0 || time.Since(began) < s.budget/200); lo, size = lo+size, 2*size {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		size = min(size, l.n-lo)
		start := time.Now()
		for i := lo; i < lo+size; i++ {
			l.f(i)
		}
		// Only the last part counts: the first call may initialize something.
		s.item = float64(time.Since(start).Nanoseconds()) / float64(size)
	}
	took := time.Since(began)
	if now, ok := s.cpu(); ok && known && took >= shortest {
		s.share = (now - cpu).Seconds() / took.Seconds()
	}
	s.useFirst(fit(l.n, s.budget, s.needed))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fit returns how many of n items fit into the budget, for the rounds of an
// interval, or of minClearRounds for a short list.
func fit(n int, budget time.Duration, needed func(n, rounds int) time.Duration) int {
	in := func(rounds int) int {
		return int(float64(n) * min(1, budget.Seconds()/needed(n, rounds).Seconds()))
	}
	return min(n, max(2, in(minIntervalRounds+1), min(minItems, in(minClearRounds))))
}

// refit returns how many items fit into the remaining time after the first
// round. It keeps repeated lists, which do not get faster with fewer items.
func (s *session) refit(left time.Duration) int {
	n, round := s.list.n, 0.0
	for i, row := range s.advice.Result.Rows {
		round += row.Samples[0][measure.Time] * float64(s.reps[i])
	}
	if n <= minItems || s.reps[0] > 1 || minIntervalRounds*round <= float64(left) {
		return n
	}
	s.item = round / s.round() / float64(n)
	return fit(n, left, s.needed)
}

// useFirst restarts the measurement with the first n items.
func (s *session) useFirst(n int) {
	a, l := s.advice, &s.list
	a.Items, l.n, l.chunk = n, n, n
	if float64(n)*s.item > float64(longest) {
		l.chunk = max(1, int(float64(shortest)/s.item))
	}
	s.models, s.reps, a.Rows, a.Result.Models, a.Result.Rows = nil, nil, nil, nil, nil
}

// explore takes the first sample of each model.
func (s *session) explore(ctx context.Context) error {
	loop, err := s.add(ctx, s.list.loop())
	if err != nil || s.list.n < 2 {
		return err
	}
	first := s.list.free(&s.seen)
	if s.most > 0 {
		first = s.list.auto(s.most, &s.seen)
	}
	if _, err := s.add(ctx, first); err != nil {
		return err
	}
	if !s.elsewhere && !s.waits() && (s.most == 0 || s.most >= runtime.GOMAXPROCS(0)) {
		if _, err := s.add(ctx, s.list.par()); err != nil {
			return err
		}
	}
	return s.raiseLimit(ctx, loop)
}

// raiseLimit doubles the limit until it gains no more. For items that wait, the
// loop stands for limit 1.
func (s *session) raiseLimit(ctx context.Context, loop float64) error {
	highest := usualMost
	if s.most > 0 {
		highest = s.most
	}
	end := min(highest, s.list.n)
	k, took := 1, []float64(nil)
	if s.waits() {
		k, took = min(2, end), []float64{loop}
	}
	for ; ; k = min(2*k, end) {
		t, err := s.add(ctx, s.list.limited(k))
		if err != nil {
			return err
		}
		took = append(took, t)
		switch {
		case k == s.list.n:
			s.advice.Highest = fmt.Sprintf("limit-%d runs all measured items concurrently", k)
		case k == end:
			s.advice.Highest = fmt.Sprintf("limit-%d is the largest allowed limit", k)
		case !stillFaster(took):
			s.advice.Highest = fmt.Sprintf("limits above %d were not tried: neither that nor limit-%d took a tenth less time than a smaller one", k, k/2)
		default:
			continue
		}
		return nil
	}
}

// stillFaster reports whether a larger limit may help: one of the last two
// doublings saved a tenth of the time. A single doubling may be an accident.
func stillFaster(took []float64) bool {
	best, idle := math.Inf(1), 0
	for _, t := range took {
		idle++
		if t < 0.9*best {
			idle = 0
		}
		best = min(best, t)
	}
	return idle < 2
}

// add adds a model and takes samples of growing length until one is long
// enough, which it keeps. It returns the time of a run.
func (s *session) add(ctx context.Context, m *model) (ns float64, err error) {
	a := s.advice
	s.models = append(s.models, m)
	s.reps = append(s.reps, 1)
	a.Result.Models = append(a.Result.Models, m.Model)
	a.Result.Rows = append(a.Result.Rows, result.Row{Case: a.kase(), Model: m.Name})
	a.Rows = append(a.Rows, Row{Name: m.Name, Limit: m.limit, Call: m.call})
	i := len(s.models) - 1
	for {
		ns, err = s.sample(ctx, i)
		length := ns * float64(s.reps[i])
		if err != nil || length >= float64(s.target) || s.reps[i] > 1<<26 {
			return ns, err
		}
		a.Result.Rows[i].Samples = nil
		s.reps[i] = min(8*s.reps[i], 1+int(1.2*float64(s.target)/max(ns, 0.1)))
	}
}

// sample takes a sample of a model and returns the time of a run.
func (s *session) sample(ctx context.Context, i int) (ns float64, err error) {
	m, reps := s.models[i], s.reps[i]
	meter := &measure.Meter{N: reps}
	meter.Start()
	before, known := s.cpu()
	err = m.repeat(ctx, reps)
	after, ok := s.cpu()
	meter.Stop()
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, err
	}
	if known && ok {
		meter.Report(measure.CPU, float64((after-before).Nanoseconds())/float64(reps))
	}
	if m.after != nil {
		m.after(meter)
	}
	row := &s.advice.Result.Rows[i]
	row.Samples = append(row.Samples, meter.Sample())
	return meter.Sample()[measure.Time], nil
}

// conclude computes the advice.
func (s *session) conclude(interrupted bool) *Advice {
	s.observed.limiter = s.seen
	for i, row := range s.advice.Result.Rows {
		if len(row.Samples) > 0 {
			length := time.Duration(row.Samples[0][measure.Time] * float64(s.reps[i]))
			s.observed.shortest = min(cmp.Or(s.observed.shortest, length), length)
		}
	}
	s.advice.judge(s.observed, interrupted)
	return s.advice
}
