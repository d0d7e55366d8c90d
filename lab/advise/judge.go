package advise

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// MinSpeedup is the smallest speedup over the loop that pays. A smaller gain
// does not justify concurrent code.
const MinSpeedup = 1.1

// A row without an interval also pays if its speedup is at least clearSpeedup
// in each of at least minClearRounds rounds. If its median speedup were less,
// each round would show that with probability at most 1/2, and three rounds
// with 1/8: the sign test. It is less certain than an interval, as Reason says,
// and serves items that take too long for more rounds.
const (
	clearSpeedup   = 1.5
	minClearRounds = 3
)

// Share of CPU time up to which a function waits, and from which it computes.
const (
	waiting   = 0.2
	computing = 0.8
)

// minListTime is the time of a list below which package par uses one goroutine.
const minListTime = 60 * time.Microsecond

// judge computes the advice from the samples.
func (s *session) judge() {
	rounds := s.fill()
	s.answer()
	if s.Answer == NotSure {
		s.Needed = roundUp(max(2*s.Advice.Budget, s.needed(s.Items)))
	}
	s.Reason = s.why()
	if s.Items < s.N && s.Item.N > 0 {
		s.warn("only the first %d of %d items were measured, and no larger limit: all would take about --budget %v", s.Items, s.N, roundUp(s.needed(s.N)))
	}
	if s.N > 1 && rounds < minRounds && s.Advice.Budget > 0 {
		s.warn("%v allowed %d rounds of %s; the interval of a median needs %d", s.Advice.Budget, rounds, count(s.Items), minRounds)
	}
	if s.crowded() {
		s.warn("other programs used %.2f of %d processors, which a computing function needs: let them end first", s.others, runtime.NumCPU())
	}
}

func (a *Advice) warn(format string, args ...any) {
	a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...))
}

// fill sets the figures of the rows. The first round warms up, if there are enough others. It
// returns the number of complete rounds.
func (s *session) fill() (rounds int) {
	for i, r := range s.Rows {
		if i == 0 || len(r.times) < rounds {
			rounds = len(r.times)
		}
	}
	warm := 0
	if rounds > minRounds {
		warm = 1
	}
	items, shares := []float64{s.item}, []float64{s.share}
	for i, r := range s.Rows {
		r.times, r.cpu = r.times[warm:], r.cpu[min(warm, len(r.cpu)):]
		speedups := ratios(s.Rows[0].times, r.times)
		r.Time, r.Speedup = median(r.times), median(speedups)
		if i == 0 {
			shares = ratios(r.cpu, r.times)
			items = ratios(r.times, slices.Repeat([]float64{float64(s.Items)}, len(r.times)))
		} else if r.Limit != 1 {
			r.Pays = pays(speedups, r.Speedup.Interval)
		}
	}
	s.Item, s.Share = median(items), median(shares)
	switch share := s.Share.Median; {
	case share == 0:
		s.Work = Unknown
	case share >= computing:
		s.Work = Computes
	case share <= waiting:
		s.Work = Waits
	default:
		s.Work = Both
	}
	return rounds - warm
}

// pays judges the speedups of a row.
func pays(speedups []float64, in *Interval) Answer {
	switch {
	case in != nil && in.Lo >= MinSpeedup:
		return Yes
	case in != nil && in.Hi < MinSpeedup:
		return No
	case in == nil && len(speedups) >= minClearRounds && slices.Min(speedups) >= clearSpeedup:
		return Yes
	}
	return NotSure
}

// row returns the row of a name, or nil.
func (a *Advice) row(names ...string) *Row {
	if i := slices.IndexFunc(a.Rows, func(r *Row) bool { return slices.Contains(names, r.Name) }); i >= 0 {
		return a.Rows[i]
	}
	return nil
}

// adaptive returns the row with the adaptive limit, or nil.
func (a *Advice) adaptive() *Row { return a.row(freeName, autoName) }

// answer sets the answer and the recommended row.
func (s *session) answer() {
	answers := map[Answer]int{}
	for _, r := range s.Rows {
		answers[r.Pays]++
	}
	switch {
	case answers[Yes] > 0:
		s.Answer, s.Best = Yes, s.choose(func(r *Row) bool { return r.Pays == Yes })
	case s.N < 2 || answers[No] > 0 && answers[NotSure] == 0 && (s.tiny() || !s.crowded()):
		s.Answer, s.Best = No, s.row(loopName)
	default:
		s.Answer, s.Best = NotSure, s.choose(func(r *Row) bool { return r.Pays != "" && r.Speedup.Median >= clearSpeedup })
		if s.Best == nil && len(answers) > 1 {
			s.Best = s.row(loopName)
		}
	}
}

// crowded reports whether other programs used processors that a computing function needs.
func (s *session) crowded() bool { return s.Work != Waits && s.others > 0.25 }

// tiny reports whether the list is too short for a goroutine.
func (a *Advice) tiny() bool { return a.Item.Median*float64(a.Items) < float64(minListTime) }

// choose returns the simplest row that pays and may be within MinSpeedup of the fastest one,
// or nil: rows without a number come first, then small limits.
func (s *session) choose(may func(*Row) bool) *Row {
	order := append([]*Row{s.adaptive()}, s.Rows...)
	if s.Work == Computes {
		order = append([]*Row{s.row(parName)}, order...)
	}
	order = slices.DeleteFunc(order, func(r *Row) bool { return r == nil || !may(r) })
	if len(order) == 0 {
		return nil
	}
	best := slices.MinFunc(order, func(a, b *Row) int { return int(a.Time.Median - b.Time.Median) })
	for _, r := range order {
		to := median(ratios(r.times, best.times))
		near := to.Median <= MinSpeedup || to.Interval != nil && to.Interval.Lo <= MinSpeedup
		if near && (r == best || r.Name != parName || s.Work == Computes) {
			return r
		}
	}
	return best
}

// why returns the reason of the answer.
func (s *session) why() string {
	auto := s.adaptive()
	switch {
	case s.N == 0:
		return "There is nothing to do."
	case s.N == 1:
		return "One item cannot run concurrently."
	case s.Answer == No:
		return s.whyNot()
	case s.Answer == NotSure:
		text, r := "Nothing was measured beside the loop.", s.Best
		if r != nil && r.Name == loopName {
			r = auto
		}
		if r != nil {
			text = fmt.Sprintf("%s was %s times as fast as the loop, in %d rounds: it may pay, or not.", r.Name, interval(r.Speedup, times), r.Speedup.N)
		}
		return fmt.Sprintf("%s More time may decide: --budget %v, or advise.Options.", text, s.Needed)
	}
	text := fmt.Sprintf("%s is %s times as fast as the loop.", s.Best.Name, interval(s.Best.Speedup, times))
	if n := s.Best.Speedup.N; s.Best.Speedup.Interval == nil {
		text += fmt.Sprintf(" It was at least %v times as fast in each of %d rounds, as by chance in at most 1 of %d cases.", clearSpeedup, n, 1<<n)
	}
	if s.Best.Limit > 0 {
		text += fmt.Sprintf(" %s takes %s times as long.", auto.Name, interval(median(ratios(auto.times, s.Best.times)), times))
	}
	return text
}

func (s *session) whyNot() string {
	switch one := s.row("limit-1"); {
	case s.tiny():
		return fmt.Sprintf("All items take %s together; a goroutine pays from about %v.", seconds(s.Item.Median*float64(s.Items)), minListTime)
	case s.Share.Median >= 1.5:
		return fmt.Sprintf("The function keeps %s processors busy by itself.", times(s.Share.Median))
	case s.Work == Computes && runtime.GOMAXPROCS(0) == 1:
		return "It computes, and there is one processor."
	case one != nil && one.Speedup.Median < 0.8:
		return fmt.Sprintf("An item takes %s, too short for a call of stint.Range, and par.Range does not pay either.", seconds(s.Item.Median))
	}
	return fmt.Sprintf("It %s, and concurrent items do not finish sooner: perhaps they share a lock, a connection, a disk, memory or a processor.", s.Work)
}

// roundUp rounds up to a second.
func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
