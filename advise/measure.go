package advise

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

// A session is one call of Run or Stages.
//
// A round calls some units alone, and then each of them again while k units run at any time,
// for some limits k. By Little's law the throughput at k is k divided by the time of a unit, so
// each unit gives a sample of the speedup: k times its time alone, divided by its time at k.
// Units that differ in cost are compared with themselves, and a limit costs about the time of
// one unit. A unit is an item, or as many items as take a millisecond.
type session struct {
	Options
	*Report
	call            function
	began, deadline time.Time
	models          []*model // the loop first
	alone           usage    // of the units that ran alone
	first, machine  usage    // of this process, and of all programs, at the beginning
	unit, units     int      // items of a unit, and units of the list
	again           bool     // the first call of an item takes longer than later ones

	group   *stint.Group
	ended   chan end
	running map[int]bool // units
	next    int          // the unit after the last one that was started
	pass    int
	err     error
}

// An end is that of a unit.
type end struct {
	unit, pass int
	measured   bool
	wall       time.Duration
	err        error
}

const (
	unitFor  = time.Millisecond       // at least
	fewUnits = 64                     // of a list: with less a unit is shorter
	fewest   = 3                      // units of a round
	most     = 30                     // units of a round of short ones
	aloneFor = 500 * time.Millisecond // how long a round calls short units alone
	leastFor = 2 * time.Second        // rounds, even if the answer is clear
	listFor  = 3 * time.Second        // a list without a limit
	shortFor = 50 * time.Millisecond  // a list that every round runs
	cold     = 1.1                    // times the limit: if a speedup is larger, the first call takes longer
	near     = 0.9                    // of the best throughput: as good, with a smaller limit
)

// over reports that no more calls should start.
func (s *session) over(ctx context.Context) bool {
	return s.err != nil || ctx.Err() != nil || !time.Now().Before(s.deadline)
}

// run calls the items of a unit.
func (s *session) run(ctx context.Context, unit int) error {
	for i := unit * s.unit; i < (unit+1)*s.unit; i++ {
		if err := s.call(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) start(unit int, measured bool) {
	end := end{unit: unit, pass: s.pass, measured: measured, err: stint.ErrGoexit} // or a panic, which Wait raises
	s.running[unit] = true
	s.Calls += s.unit
	s.group.Go(func(ctx context.Context) error {
		defer func() { s.ended <- end }()
		began := time.Now()
		end.err = s.run(ctx, unit)
		end.wall = time.Since(began)
		return end.err
	})
}

// wait waits for the end of a unit.
func (s *session) wait() end {
	end := <-s.ended
	delete(s.running, end.unit)
	s.err = cmp.Or(s.err, end.err)
	return end
}

// fresh returns a unit that does not run, in turn, or -1 if there is none.
func (s *session) fresh() int {
	for range s.units {
		if s.Once && s.next >= s.units {
			break
		}
		unit := s.next % s.units
		if s.next++; !s.running[unit] {
			return unit
		}
	}
	return -1
}

// at runs units while k run at any time, others if need be, and returns how long each took.
// Others may still run when it returns.
func (s *session) at(ctx context.Context, k int, units ...int) map[int]time.Duration {
	walls, todo := map[int]time.Duration{}, slices.Clone(units)
	for s.pass++; len(walls) < len(units); {
		for len(s.running) < k {
			i := slices.IndexFunc(todo, func(unit int) bool { return !s.running[unit] })
			unit := -1
			if i < 0 {
				unit = s.fresh()
			} else {
				unit = todo[i]
				todo = slices.Delete(todo, i, i+1)
			}
			if unit < 0 || s.over(ctx) {
				return walls
			}
			s.start(unit, i >= 0)
		}
		if end := s.wait(); end.pass == s.pass && end.measured && end.err == nil {
			walls[end.unit] = end.wall
		}
	}
	return walls
}

// drain waits for all units.
func (s *session) drain() {
	for len(s.running) > 0 {
		s.wait()
	}
}

// round runs fresh units alone, and returns how long each took.
func (s *session) round(ctx context.Context) map[int]time.Duration {
	walls := map[int]time.Duration{}
	s.drain()
	for began := time.Now(); len(walls) < min(fewest, s.units) || len(walls) < min(most, s.units) && time.Since(began) < aloneFor; {
		unit := s.fresh()
		if s.again {
			s.at(ctx, 1, unit)
		}
		before := s.use()
		wall, ok := s.at(ctx, 1, unit)[unit]
		if !ok {
			break
		}
		walls[unit] = wall
		s.alone.add(before, s.use(), wall, s.unit)
		s.models[0].took(wall / time.Duration(s.unit))
	}
	s.judge()
	return walls
}

// limit measures a limit, and returns the median of all samples of its speedup.
func (s *session) limit(ctx context.Context, k int, alone map[int]time.Duration) float64 {
	m, units := s.limited(k), slices.Sorted(maps.Keys(alone))
	if s.unit > 1 {
		s.list(ctx, m, alone)
		return m.Speedup.Median
	}
	if s.Once { // other units, which are compared with the mean, and k - 1 beside the last
		for i := range units {
			units[i] = s.fresh()
		}
	}
	for unit, wall := range s.at(ctx, k, units...) {
		before, ok := alone[unit]
		if !ok {
			before = s.Item.Wall
		}
		m.add(float64(k) * before.Seconds() / wall.Seconds())
		m.took(wall)
	}
	s.judge()
	return m.Speedup.Median
}

// explore doubles the limit until two steps gain no more.
func (s *session) explore(ctx context.Context, alone map[int]time.Duration) {
	best, highest := 1.0, s.highest()
	for k, flat := 2, 0; flat < 2 && !s.over(ctx); k = min(2*k, highest) {
		speedup := s.limit(ctx, k, alone)
		if flat++; speedup >= MinSpeedup*best {
			flat = 0
		}
		if best = max(best, speedup); k >= highest {
			break
		}
	}
	if knee := int(math.Ceil(best / near)); knee > 2 && knee < s.choose(true).Limit && !s.over(ctx) {
		s.limit(ctx, knee, alone)
	}
}

// list runs a list by a model without a limit: all items, or as many as take some time.
func (s *session) list(ctx context.Context, m *model, alone map[int]time.Duration) {
	s.drain()
	var done atomic.Int64
	items, f, began := s.N, s.call, time.Now()
	if s.unit > 1 {
		items = min(s.N, max(int(shortFor/max(1, s.Item.Wall)), 8*m.Limit))
		done.Store(int64(items))
	} else {
		f = func(ctx context.Context, i int) error {
			if time.Since(began) > listFor {
				return nil
			}
			done.Add(1)
			return s.call(ctx, i)
		}
	}
	s.err = m.list(ctx, items, f)
	var took time.Duration
	for _, wall := range alone {
		took += wall
	}
	perSecond := float64(done.Load()) / time.Since(began).Seconds()
	m.add(perSecond * took.Seconds() / float64(len(alone)*s.unit))
	s.Calls += int(done.Load())
	s.judge()
}

// pilot calls items for some milliseconds, and chooses the length of units.
func (s *session) pilot(ctx context.Context) error {
	calls, before, began := 0, s.use(), time.Now()
	for ; calls < 1<<20 && time.Since(began) < 5*unitFor && ctx.Err() == nil; calls++ {
		if err := s.call(ctx, calls%s.N); err != nil {
			return err
		}
	}
	took := time.Since(began)
	if s.Calls += calls; took == 0 {
		return errors.New("advise: the clock stands still: a function that computes cannot be measured in a bubble of testing/synctest")
	}
	item := max(1, took/time.Duration(calls))
	s.unit = max(1, min(int(unitFor/item), s.N/fewUnits))
	s.units = s.N / s.unit
	if s.N*int(item) < int(handOver) {
		s.alone.add(before, s.use(), took, calls)
		s.deadline = time.Now() // nothing else can change the answer
	}
	return nil
}

func (o Options) measure(ctx context.Context, n int, f function, models []*model) (*Report, error) {
	s := &session{Options: o, Report: &Report{N: n}, call: f, models: models, unit: 1, units: n, running: map[int]bool{}}
	s.Budget = cmp.Or(o.Budget, time.Minute)
	s.Most = cmp.Or(o.Most, max(256, runtime.GOMAXPROCS(0)))
	s.began, s.first, s.machine = time.Now(), s.use(), machine()
	s.deadline = s.began.Add(s.Budget)
	s.group, s.ended = stint.NewGroup(ctx, stint.Limit(s.Most)), make(chan end, s.Most)
	if n > 0 && ctx.Err() == nil {
		s.rounds(ctx)
	}
	err := s.group.Wait()
	if s.judge(); ctx.Err() != nil {
		return s.Report, context.Cause(ctx)
	}
	return s.Report, cmp.Or(err, s.err)
}

// rounds takes rounds until more cannot change the answer.
func (s *session) rounds(ctx context.Context) {
	if s.at(ctx, 1, 0)[0] < unitFor && !s.Once && s.err == nil {
		s.err = s.pilot(ctx)
	}
	stages := s.models[1].Name != "par.Range"
	for round := 0; !s.over(ctx) && (s.Answer == NotSure || time.Since(s.began) < leastFor); round++ {
		alone := s.round(ctx)
		if len(alone) == 0 || s.units < 2 || s.Most < 2 {
			return
		}
		if !stages {
			s.explore(ctx, alone)
			if two := s.limited(2); round == 0 && two.Speedup.Median > cold*2 {
				s.again, s.models, s.alone = true, s.models[:3], usage{}
				s.models[0].walls = nil
				continue
			}
		}
		for _, m := range s.models {
			computes := s.CPU == nil && s.Work == Computes
			if m.Limit == 0 && !s.over(ctx) && (m.Name != "par.Range" || computes) && (s.unit > 1 || stages || round == 0 && !s.Once && s.Answer == Yes) {
				s.list(ctx, m, alone)
			}
		}
	}
}
