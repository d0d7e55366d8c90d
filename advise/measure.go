package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
)

// A session is one call of Run or Stages.
//
// A round calls some items alone, and then each of them again while k calls run at any time,
// for some limits k. By Little's law the throughput at k is k divided by the mean time of a
// call, so the speedup is k times the time of the items alone, divided by their time at k.
// Items that differ in cost are compared with themselves, and a limit costs about the time of
// one item. Calls of less than a millisecond are measured by lists: the time of a loop divided
// by that of the model.
type session struct {
	Options
	*Report
	call            function
	began, deadline time.Time
	begin           usage         // when the session began
	busy, idle      time.Duration // of the machine, then
	models          []*model      // the loop first
	stages          bool
	alone           []usage // of each call alone
	first           usage   // of a long call of the first item, until a round has it
	share           float64 // of their time is on a CPU
	unit, from      int     // items that are measured together: 1, or a list of short ones, and the first of these
	repeat          int     // runs of a list that are measured together
	items           int     // the first ones that are called one by one: all, or with again those that were called before
	again           bool    // the first call of an item takes longer than the next ones
	next            int     // the item after the last fresh one
	failed          int     // the most calls at once when one failed; 0: none did, or alone
	others          float64 // CPUs that other programs use of those that the items need
	running         map[int]bool
	shortest        map[int]time.Duration // of the calls of an item
	ended           chan end
	group           *stint.Group
	err             error
}

// An end is that of a call.
type end struct {
	item int
	took time.Duration
	wall *time.Duration // where it goes
	err  error
}

const (
	shortCall = time.Millisecond
	loopFor   = 20 * time.Millisecond // a list of short calls
	rangeFor  = 2 * time.Second       // a list of long calls
	fewest    = 3                     // items of a round
	most      = 30                    // items of a round, if they take no longer than
	aloneFor  = 500 * time.Millisecond
	leastFor  = 2 * time.Second // all rounds, even if the answer is clear
	near      = 0.9             // of the best throughput: as good, with a smaller limit
)

// measure is Run, or Stages if the models are others. f is nil if a function is.
func (o Options) measure(ctx context.Context, caller string, n int, f function, models []*model) (*Report, error) {
	switch {
	case ctx == nil:
		panic("advise: " + caller + ": nil context")
	case f == nil:
		panic("advise: " + caller + ": nil function")
	case n < 0 || o.Budget < 0 || o.Most < 0:
		panic(fmt.Sprintf("advise: %s: n is %d, Budget %v, Most %d: want 0 or more", caller, n, o.Budget, o.Most))
	}
	s := &session{Options: o, Report: &Report{N: n, Answer: NotSure, Work: Unknown}, call: f, models: models, items: n, unit: 1, repeat: 1, began: time.Now(), running: map[int]bool{}, shortest: map[int]time.Duration{}}
	s.Budget, s.Most, s.begin = cmp.Or(o.Budget, time.Minute), min(cmp.Or(o.Most, max(256, runtime.GOMAXPROCS(0))), 1<<16), s.use()
	s.busy, s.idle = machine()
	s.deadline, s.stages = s.began.Add(s.Budget), models[1].Name != parName
	s.ended, s.group = make(chan end, s.Most), stint.NewGroup(ctx, stint.Limit(s.Most))
	if n > 0 && !s.over(ctx) {
		s.rounds(ctx)
	}
	err := s.group.Wait()
	for len(s.ended) > 0 {
		s.wait(ctx)
	}
	if s.judge(); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return s.Report, cmp.Or(err, s.err)
}

// over reports that no more calls should start.
func (s *session) over(ctx context.Context) bool {
	return s.err != nil || ctx.Err() != nil || !time.Now().Before(s.deadline)
}

// rounds takes rounds until more cannot change the answer.
func (s *session) rounds(ctx context.Context) {
	if !s.Once {
		s.pilot(ctx)
	}
	for !s.over(ctx) && (s.Answer == NotSure || time.Since(s.began) < leastFor) {
		items, alone := s.round(ctx)
		if len(items) == 0 || s.Answer == No && len(s.Models) == 1 { // one item, or a list too short
			return
		}
		if !s.stages {
			s.explore(ctx, items, alone)
			if s.unit == 1 && !s.again && !s.Once && s.warmed(ctx, items, alone) {
				s.again, s.items, s.alone, s.models, s.Answer = true, min(s.N, s.next), nil, s.models[:3], NotSure
				continue
			}
		}
		for m := s.choose(fixed); m != nil && s.unit == 1 && m.whole == 0 && s.Answer == Yes && !s.Once && !s.over(ctx); m = s.choose(fixed) {
			s.list(ctx, m, alone)
		}
		for _, m := range s.models {
			useful := s.unit > 1 || s.stages || len(m.took) == 0 && s.Answer == Yes && !s.Once
			if m.Limit == 0 && useful && (m.Name != parName || s.CPU == nil && s.Work == Computes) && !s.over(ctx) {
				s.list(ctx, m, alone)
			}
		}
	}
}

// pilot calls items to see whether they are short. A first call of less than a tenth of a second
// does not count: it may initialize something.
func (s *session) pilot(ctx context.Context) {
	calls, before, began := 1, s.use(), time.Now()
	if s.err = s.call(ctx, 0); time.Since(began) > 100*shortCall {
		s.Calls, s.next, s.first = 1, 1%s.N, s.use().since(before, time.Since(began), 1)
		return
	}
	for before, began = s.use(), time.Now(); calls < 1<<20 && (calls == 1 || time.Since(began) < 5*shortCall) && !s.over(ctx); calls++ {
		s.err = s.call(ctx, calls%s.N)
	}
	used := s.use().since(before, time.Since(began), max(1, calls-1))
	if s.Calls, s.next = calls, calls%s.N; calls == 1<<20 && used.wall == 0 {
		s.err = errors.New("advise: the clock stands still: in a bubble of testing/synctest, calls must wait")
	} else if calls > 1 && used.wall < shortCall {
		if s.unit = int(loopFor / max(1, used.wall)); work(used.share()) != Computes {
			s.unit = max(s.unit, 512) // enough for large limits
		}
		s.unit = min(s.unit, s.N)
		s.repeat = int(2*shortCall/max(1, used.wall*time.Duration(s.unit))) + 1
	}
}

// window calls an item of the list of short calls that is measured now.
func (s *session) window(ctx context.Context, i int) error { return s.call(ctx, s.from+i) }

// start starts a call. The time until it has a CPU counts.
func (s *session) start(item int, wall *time.Duration) {
	end, began := end{item: item, wall: wall, err: stint.ErrGoexit}, time.Now() // or a panic, which the group raises
	s.running[item] = true
	s.Calls += s.unit * s.repeat
	s.group.Go(func(ctx context.Context) (err error) {
		defer func() { s.ended <- end }()
		runtime.Gosched() // or it would run before those that wait for a CPU
		if s.unit == 1 {
			err = s.call(ctx, item)
		}
		for i := 0; i < s.repeat && s.unit > 1 && err == nil; i++ {
			err = loop(ctx, s.unit, s.window)
		}
		end.err, end.took = err, max(1, time.Since(began))
		return err
	})
}

// wait waits for the end of a call. It returns false if there may be none: after the end of ctx
// or a failure the group drops calls that have not begun.
func (s *session) wait(ctx context.Context) bool {
	if s.err != nil && len(s.ended) == 0 {
		return false
	}
	select {
	case end := <-s.ended:
		if s.err == nil && end.err != nil && len(s.running) > 1 && ctx.Err() == nil {
			s.failed = len(s.running)
		}
		delete(s.running, end.item)
		if shortest, ok := s.shortest[end.item]; end.err == nil && (!ok || end.took < shortest) {
			s.shortest[end.item] = end.took
		}
		*end.wall = end.took
		s.err = cmp.Or(s.err, end.err)
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *session) drain(ctx context.Context) {
	for len(s.running) > 0 && s.wait(ctx) {
	}
}

// fresh returns the next item that does not run, or -1 if there is none.
func (s *session) fresh() int {
	for range s.items {
		if s.Once && s.next >= s.N {
			break
		}
		item := s.next % s.items
		if s.next++; !s.running[item] {
			return item
		}
	}
	return -1
}

// at calls items while k calls run at any time, of others if need be, and returns how long each
// took. Others may still run when it returns. What has not ended by the deadline counts until
// then; what has not begun is 0.
func (s *session) at(ctx context.Context, k int, items ...int) []time.Duration {
	walls, todo, began := make([]time.Duration, len(items)), slices.Clone(items), make([]time.Time, len(items))
	others := 0
	ready := func(item int) bool {
		return item >= 0 && !s.running[item] && (len(s.running) == k-1 || others > s.items)
	}
	for {
		for len(s.running) >= k && s.wait(ctx) {
		}
		if s.over(ctx) || !slices.Contains(walls, 0) {
			break
		}
		item, wall := -1, new(time.Duration)
		if place := slices.IndexFunc(todo, ready); place >= 0 {
			item, wall, todo[place], began[place] = todo[place], &walls[place], -1, time.Now()
		} else if others++; others <= s.items { // each once, or they would only be in the way of a long one
			item = s.fresh()
		}
		if item >= 0 {
			s.start(item, wall)
		} else if s.Once || len(s.running) == 0 {
			break
		} else {
			s.wait(ctx)
		}
	}
	for place, wall := range walls {
		if wall == 0 && !began[place].IsZero() && s.err == nil && ctx.Err() == nil && !s.Once {
			walls[place] = max(1, time.Since(began[place]))
		}
	}
	return walls
}

// round calls fresh items alone, and returns how long each took.
func (s *session) round(ctx context.Context) (items []int, alone []time.Duration) {
	few, many, began := min(fewest, s.N), min(most, s.N), time.Now()
	if s.Once {
		many = s.N / 8 // others are for the limits
	}
	if s.unit > 1 {
		many = few
		if s.from += s.unit; s.from+s.unit > s.N {
			s.from = 0
		}
	}
	if s.first.wall > 0 && s.err == nil {
		s.alone, items, alone, s.first = append(s.alone, s.first), []int{0}, []time.Duration{s.first.wall}, usage{}
	}
	for len(items) < few || len(items) < many && time.Since(began) < aloneFor {
		s.drain(ctx)
		item := s.fresh()
		if item < 0 {
			break
		}
		before := s.use()
		wall := s.at(ctx, 1, item)[0]
		used := s.use().since(before, wall, s.unit*s.repeat)
		if used.wall == 0 || s.err != nil {
			break
		}
		if wall > shortCall && s.unit > 1 && work(used.share()) == Computes {
			used.wall = used.cpu // as if no other program used the CPUs
		}
		s.alone, items, alone = append(s.alone, used), append(items, item), append(alone, used.wall)
	}
	s.judge()
	return items, alone
}

// limit measures a limit, and returns its speedup.
func (s *session) limit(ctx context.Context, k int, items []int, alone []time.Duration) float64 {
	m := s.limited(k)
	if s.unit > 1 {
		s.list(ctx, m, alone)
		return m.Speedup.Value
	}
	if s.Once { // others, which are compared with these
		items = nil
		for range alone {
			if item := s.fresh(); item >= 0 {
				items = append(items, item)
			}
		}
	}
	for i, wall := range s.at(ctx, k, items...) {
		if wall > 0 && s.err == nil && ctx.Err() == nil {
			m.add(time.Duration(k)*alone[i], wall)
			m.walls = append(m.walls, wall)
		}
	}
	s.judge()
	return m.Speedup.Value
}

// explore doubles the limit until two steps gain no more.
func (s *session) explore(ctx context.Context, items []int, alone []time.Duration) {
	best, highest := 1.0, s.highest()
	for k, flat := 2, 0; flat < 2 && !s.over(ctx); k = min(2*k, highest) {
		speedup := s.limit(ctx, k, items, alone)
		if flat++; speedup >= MinSpeedup*best {
			flat = 0
		}
		if best = max(best, speedup); k >= highest {
			break
		}
	}
}

// warmed reports that the first call of an item took longer than the next one, if that could
// be why a limit seems faster.
func (s *session) warmed(ctx context.Context, items []int, alone []time.Duration) bool {
	if best := s.choose(measured); best == nil || best.Speedup.Value < MinSpeedup || best.Speedup.Value > 3 && estimate(s.limited(2).alone, s.limited(2).took).Value < 2*MinSpeedup {
		return false
	}
	s.drain(ctx)
	var first, second time.Duration
	for i, wall := range s.at(ctx, 1, items...) {
		first, second = first+alone[i], second+wall
	}
	return first.Seconds() >= MinSpeedup*second.Seconds() && !s.over(ctx)
}

// list runs a list by a model: the short one, or as many items as take some time.
func (s *session) list(ctx context.Context, m *model, alone []time.Duration) {
	s.drain(ctx)
	var done, early, busy atomic.Int64 // calls, those that end within rangeFor, and the time of all
	var sum time.Duration
	for _, wall := range alone {
		sum += wall
	}
	item := max(1, sum/time.Duration(len(alone)))
	items, f, before, began := s.unit, s.window, s.use(), time.Now()
	if s.stages && s.unit == 1 {
		items, f = min(s.N, max(16, int(aloneFor/item))), s.call
	} else if s.unit == 1 {
		items = min(s.items, max(m.Limit, int(float64(rangeFor)/float64(item)*2*s.choose(measured).Speedup.Value))) // more than can end
		f = func(ctx context.Context, i int) error {
			if time.Since(began) > rangeFor || s.over(ctx) {
				return nil
			}
			done.Add(1)
			start := time.Now()
			err := s.call(ctx, i)
			if busy.Add(int64(time.Since(start))); time.Since(began) <= rangeFor {
				early.Add(1)
			}
			return err
		}
	}
	for i := 0; i < s.repeat && s.err == nil; i++ {
		s.err = m.list(ctx, items, f)
	}
	used := s.use().since(before, time.Since(began), 1)
	items = s.repeat * cmp.Or(int(done.Load()), items)
	switch {
	case ctx.Err() != nil:
		return
	case s.err != nil:
		s.failed = cmp.Or(m.Limit, s.Most)
		return
	}
	if s.Calls += items; s.unit > 1 && s.Work == Computes {
		used.wall = used.uncontended()
	}
	if n := int(early.Load()); used.wall > rangeFor && float64(n)/rangeFor.Seconds() > float64(items)/used.wall.Seconds() { // the last calls are long
		items, used.wall = n, rangeFor
	}
	switch {
	case m.Limit == 0 || s.unit > 1:
		m.add(time.Duration(items)*item, used.wall)
	case 2*busy.Load() < int64(m.Limit)*int64(used.wall): // it waited for a few long items, of which alone may have none
		m.whole = math.Inf(1)
	default:
		m.whole = float64(items) * item.Seconds() / used.wall.Seconds()
	}
	s.judge()
}
