package advise

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judge brings the report up to date.
func (s *session) judge() {
	r, loop, perSecond := s.Report, s.models[0], 0.0
	r.Took, r.Models = time.Since(s.began), nil
	if n := len(s.alone); n > 0 {
		var shares []float64
		for _, u := range s.alone {
			if u.wall >= shortCall || s.unit > 1 { // of others most is that of the measuring
				shares = append(shares, u.share())
			}
		}
		if slices.Sort(shares); len(shares) > 0 && s.unit > 1 {
			s.share = shares[len(shares)/2]
		} else if len(shares) > 0 { // other programs make it smaller
			s.share = shares[len(shares)*9/10]
		}
		r.Work = work(s.share)
		slices.SortFunc(s.alone, func(a, b usage) int { return cmp.Compare(a.wall, b.wall) })
		median := s.alone[n/2]
		r.Item = Item{n * s.unit * s.repeat, median.wall, s.alone[n*99/100].wall, median.cpu, median.memory}
		var all time.Duration
		for _, u := range s.alone {
			all += u.wall
		}
		perSecond, loop.Speedup, loop.P50, loop.P99 = float64(n)/all.Seconds(), Estimate{1, 1, 1}, r.Item.Wall, r.Item.P99
	}
	for _, m := range s.models {
		if len(m.took) > 0 {
			e, bound := estimate(m.alone, m.took), s.bound(m.Limit)
			if MinSpeedup*m.whole < e.Value && m.whole > 0 { // other calls took longer than those that were measured
				bound = min(bound, m.whole)
			}
			m.Speedup = Estimate{min(e.Value, bound), min(e.Lo, bound), min(e.Hi, bound)}
		}
		if n := len(m.walls); n > 0 {
			slices.Sort(m.walls)
			m.P50, m.P99 = m.walls[n/2], m.walls[n*99/100]
		}
		if m.Speedup.Value > 0 {
			m.PerSecond = m.Speedup.Value * perSecond
			r.Models = append(r.Models, m.Model)
		}
	}
	s.others = s.otherPrograms()
	pays := s.choose(func(m *model) bool { return m.Speedup.Lo >= MinSpeedup })
	fast := func(m *model) bool { return pays == nil || m.Speedup.Lo >= MinSpeedup || m.Speedup.Hi == 0 }
	best, limit := s.choose(fast), s.choose(func(m *model) bool { return m.Limit > 1 && fast(m) })
	if r.Answer = s.answer(pays); r.Answer == No || best == nil || best.Speedup.Value < MinSpeedup {
		best = loop
	}
	r.Best, r.Code, r.Limit = &best.Model, best.code, 0
	switch {
	case r.Answer == No:
		r.Limit = 1
	case r.Answer == Yes && limit != nil:
		r.Limit = limit.Limit
	case r.Answer == Yes:
		r.Limit = s.highest()
	}
	r.Reason, r.Notes = s.reason(best), s.notes(limit)
	if s.Progress != nil {
		s.Progress(r)
	}
}

// answer returns whether a model is faster than the loop. pays is one that surely is, or nil.
func (s *session) answer(pays *model) Answer {
	highest, cpus := 0.0, float64(runtime.GOMAXPROCS(0)) // other programs took some of these
	for _, m := range s.models[1:] {
		highest = max(highest, m.Speedup.Hi*cpus/max(0.2, cpus-s.others))
	}
	switch {
	case highest > 0 && highest < MinSpeedup && s.failed == 0 || s.N < 2 || s.Most < 2 || s.tiny():
		return No
	case pays == nil || s.Once && s.Item.Wall < handOver:
		return NotSure
	}
	return Yes
}

// tiny reports that the whole list is too short to start goroutines.
func (s *session) tiny() bool {
	return len(s.alone) > 0 && float64(s.N)*s.Item.Wall.Seconds() < handOver.Seconds()
}

// otherPrograms returns how many CPUs other programs use of those that the items need, or 0 if
// one is idle.
func (s *session) otherPrograms() float64 {
	busy, idle := machine()
	took, own := time.Since(s.began), s.use().cpu-s.begin.cpu
	if used := (busy - s.busy - own).Seconds() / took.Seconds(); s.Work != Waits && used > 0.3 && idle-s.idle < took/2 {
		return used
	}
	return 0
}

// reason returns the reason of the answer.
func (s *session) reason(best *model) string {
	measured := fmt.Sprintf("%s is %s times as fast as a plain loop", best.Name, digits(best.Speedup.Value))
	if e := best.Speedup; e.Lo > 0 && e.Lo < e.Hi {
		measured += fmt.Sprintf(" (%s to %s)", digits(e.Lo), digits(e.Hi))
	}
	switch {
	case s.N == 0:
		return "there is nothing to do."
	case s.N == 1 || s.Most == 1:
		return "one item at a time cannot run concurrently."
	case s.Answer == Yes:
		return measured + "."
	case s.tiny():
		return fmt.Sprintf("all items take %s together, and concurrency pays from about %s.", short(time.Duration(s.N)*s.Item.Wall), worthIt)
	case len(s.alone) == 0:
		return "no item was measured in this time."
	case s.Once && s.Item.Wall < handOver:
		return "an item is too short to be measured by one call."
	case len(s.Models) < 2:
		return "nothing was measured but the loop."
	case s.Answer == NotSure && s.others > 0:
		return fmt.Sprintf("other programs use %.1f CPUs, which concurrent items would need.", s.others)
	case s.Answer == NotSure && best.Limit != 1:
		return measured + "; more time or more items may decide."
	case s.Answer == NotSure:
		return "the times of the items differ too much; more time or more items may decide."
	case s.unit == 1 && s.longest() < MinSpeedup:
		return "the longest item takes nearly as long as all of them together."
	case s.Work == Computes && s.share > 1.5:
		return fmt.Sprintf("an item keeps %.1f CPUs busy by itself.", s.share)
	case s.Work == Computes && runtime.GOMAXPROCS(0) == 1:
		return "it computes, and there is one CPU."
	}
	return "concurrent items do not finish sooner. They may share a lock, a connection, a disk, or memory."
}

// notes returns what is not known, and when not to follow the answer.
func (s *session) notes(limit *model) (notes []string) {
	note := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(s.Work == Unknown && s.Calls > 0, "The CPU time is not known.")
	note(s.again, "The first call of an item took longer than the next ones, which were measured.")
	note(s.failed > 0, "A call failed with up to %d at once.", s.failed)
	if s.Answer != Yes {
		return notes
	}
	note(true, "Items that depend on each other must not run concurrently, whatever their speedup.")
	note(true, "A plain loop does %s items a second. Well below that rate concurrency gains little.", digits(s.models[0].PerSecond))
	if limit == nil {
		return notes
	}
	loop := s.models[0]
	note(s.others > 0, "Other programs used %.1f CPUs. Without them the speedup may be larger.", s.others)
	note(s.Once, "Each item was called once, so different items were compared.")
	note(s.longest() < near*float64(limit.Limit), "The list is at most %s times as fast, because no limit shortens its longest item.", digits(s.longest()))
	note(s.Work != Computes && limit == s.models[len(s.models)-1], "A limit above %d was not measured.", limit.Limit)
	few := int(worthIt / max(1, s.Item.Wall))
	note(s.unit > 1 && few > 1 && few < s.N, "For fewer than about %d items, a plain loop is as good.", few)
	note(limit.P50 > loop.P50*5/4, "An item takes %s times as long at limit %d as alone. If its latency matters more than throughput, take a smaller limit.",
		digits(limit.P50.Seconds()/loop.P50.Seconds()), limit.Limit)
	return notes
}

// String returns the report as text.
func (r *Report) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("items: %d, calls: %d, time: %s", r.N, r.Calls, cmp.Or(short(r.Took), "0s"))
	if r.Item.Measured > 0 {
		text := fmt.Sprintf("An item takes %s alone (p99 %s)", short(r.Item.Wall), short(r.Item.P99))
		if r.Work != Unknown {
			text += fmt.Sprintf(", %s of it on a CPU: it %s", cmp.Or(short(r.Item.CPU), "0s"), r.Work)
		}
		if r.Item.Memory > 0 {
			text += fmt.Sprintf(". Memory: %s kB", digits(float64(r.Item.Memory)/1000))
		}
		line("%s.", text)
	}
	line("Does concurrency pay? %s: %s", r.Answer, r.Reason)
	most := 0.0
	for _, m := range r.Models {
		most = max(most, m.PerSecond)
	}
	if len(r.Models) > 1 {
		line("\n%-13s %9s %8s %9s %9s", "", "items/s", "speedup", "p50", "p99")
		for _, m := range r.Models {
			line("%-13s %9s %8s %9s %9s  %s", m.Name, digits(m.PerSecond), digits(m.Speedup.Value), short(m.P50), short(m.P99), strings.Repeat("█", int(30*m.PerSecond/most+0.5)))
		}
	}
	if r.Code != "" {
		line("\nWrite:\n\n\t%s\n", strings.ReplaceAll(strings.ReplaceAll(r.Code, "\n", "\n\t"), "\t\n", "\n"))
	}
	for _, note := range r.Notes {
		line("- %s", note)
	}
	return b.String()
}

// digits returns three digits of a number.
func digits(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// short returns three digits of a duration, or "" for 0.
func short(d time.Duration) string {
	if d == 0 {
		return ""
	}
	unit := time.Duration(1)
	for 1000*unit <= d {
		unit *= 10
	}
	return d.Round(unit).String()
}
