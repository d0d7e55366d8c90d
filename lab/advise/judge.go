package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// evidence is what is known beside the samples.
type evidence struct {
	item     float64            // ns of an item, as the first ones showed
	share    float64            // of processor time in these; 0: not known
	spent    bool               // the budget
	shortest time.Duration      // of the samples; 0: there is none
	limiter  stint.LimiterStats // of the last run without a fixed limit
}

// judge draws the conclusions from the samples in Result.
func (a *Advice) judge(e evidence, interrupted bool) {
	rounds := a.trim()
	a.Result.Cases = []result.Case{{Name: a.kase(), Doc: fmt.Sprintf("an op is %d items", a.Items), Reference: loopName, Ops: 1, Count: rounds}}
	if interrupted {
		a.Result.Cases[0].Count = enough
	}
	a.Result.Conclude(a.claims())
	a.fill()
	a.work(e)
	a.auto(e.limiter)
	a.answer()
	a.Reason = a.why()
	if last := a.last(); a.Highest == "" && last != "" {
		a.Highest = "a larger limit than that of " + last + " was not tried: the time was over"
	}
	a.warn(e, rounds, interrupted)
}

// kase is the name of the only case.
func (a *Advice) kase() string { return fmt.Sprintf("n=%d", a.Items) }

// trim drops rows without samples, leaves out the first round, in which things are
// done for the first time, if there are enough others, and returns how many are
// complete.
func (a *Advice) trim() int {
	rows := slices.DeleteFunc(a.Result.Rows, func(r result.Row) bool { return len(r.Samples) == 0 })
	a.Result.Rows = rows
	if len(rows) == 0 {
		return 0
	}
	least := len(rows[0].Samples)
	for _, row := range rows {
		least = min(least, len(row.Samples))
	}
	if least <= fewest {
		return least
	}
	for i := range rows {
		rows[i].Samples = rows[i].Samples[1:]
	}
	return least - 1
}

// claims are that each row in which items run side by side is worth it.
func (a *Advice) claims() []result.Claim {
	var out []result.Claim
	for _, row := range a.Rows {
		if row.Name != loopName && row.Limit != 1 {
			out = append(out, result.Claim{Case: a.kase(), Model: row.Name, Unit: measure.Time, Form: result.Speedup, Than: loopName, Bar: Worth})
		}
	}
	return out
}

// fill puts the figures into the rows, and drops those without.
func (a *Advice) fill() {
	verdicts := map[string]result.Verdict{}
	for _, v := range a.Result.Verdicts {
		verdicts[v.Model] = v
	}
	a.Rows = slices.DeleteFunc(a.Rows, func(r Row) bool { return a.values(r.Name, measure.Time) == nil })
	loop := a.values(loopName, measure.Time)
	for i := range a.Rows {
		r := &a.Rows[i]
		r.times = a.values(r.Name, measure.Time)
		r.Time = stats.Median(r.times)
		speedups := stats.Ratios(loop, r.times)
		r.Speedup = stats.Median(speedups)
		r.Pays = verdicts[r.Name].Answer
		if r.Pays == result.NotSure && r.few() && len(speedups) >= few && slices.Min(speedups) >= far {
			r.Pays = result.Yes
		}
	}
}

// few reports whether there were too few rounds for an interval.
func (r *Row) few() bool { return r.Speedup.Interval == nil }

// values are those of a unit in a row, one a round; nil if it was not measured.
func (a *Advice) values(model string, u measure.Unit) []float64 {
	var out []float64
	for _, row := range a.Result.Rows {
		for _, s := range row.Samples {
			if v, ok := s[u]; ok && row.Model == model {
				out = append(out, v)
			}
		}
	}
	return out
}

// work says what the function does, from the samples of the loop, or else from the
// first items.
func (a *Advice) work(e evidence) {
	times, used := a.values(loopName, measure.Time), a.values(loopName, measure.CPU)
	items := make([]float64, len(times))
	for i, t := range times {
		items[i] = t / float64(a.Items)
	}
	if len(items) == 0 && e.item > 0 {
		items = []float64{e.item}
	}
	shares := stats.Ratios(used, times)
	if len(shares) == 0 && e.share > 0 {
		shares = []float64{e.share}
	}
	a.Item, a.Share, a.Work = stats.Median(items), stats.Median(shares), Unknown
	switch {
	case a.Share.N == 0:
	case a.Share.Median >= computing:
		a.Work = Computes
	case a.Share.Median <= waiting:
		a.Work = Waits
	default:
		a.Work = Both
	}
}

// row returns the row of a name, or nil.
func (a *Advice) row(name string) *Row {
	for i := range a.Rows {
		if a.Rows[i].Name == name {
			return &a.Rows[i]
		}
	}
	return nil
}

// last is the name of the largest limit, or empty.
func (a *Advice) last() string {
	name := ""
	for _, r := range a.Rows {
		if r.Limit > 0 {
			name = r.Name
		}
	}
	return name
}

// self is the row of the limit that finds itself, or nil.
func (a *Advice) self() *Row {
	if r := a.row(freeName); r != nil {
		return r
	}
	return a.row(autoName)
}

// auto compares the limit that finds itself with the best fixed one.
func (a *Advice) auto(last stint.LimiterStats) {
	self := a.self()
	if self == nil {
		return
	}
	a.Auto = &Auto{Limit: stats.Median(a.values(self.Name, limitUnit)), Phase: last.Phase, Reason: last.Reason}
	if best := fastest(a.Rows, func(r *Row) bool { return r.Limit > 0 }); best != nil {
		a.Auto.Beside, a.Auto.Ratio = best.Name, stats.Median(stats.Ratios(self.times, best.times))
	}
}

// fastest returns the row with the smallest median of those that may be it, or nil.
func fastest(rows []Row, may func(*Row) bool) *Row {
	var best *Row
	for i := range rows {
		if r := &rows[i]; may(r) && (best == nil || r.Time.Median < best.Time.Median) {
			best = r
		}
	}
	return best
}

// answer says whether concurrency pays, and what to write.
func (a *Advice) answer() {
	answers := map[result.Answer]int{}
	for _, r := range a.Rows {
		answers[r.Pays]++
	}
	no := answers[result.No] > 0 && answers[result.NotSure] == 0 && (a.tiny() || !a.crowded())
	best := a.row(loopName)
	switch {
	case answers[result.Yes] > 0:
		a.Answer, best = result.Yes, a.choose(func(r *Row) bool { return r.Pays == result.Yes })
	case a.N < 2, no:
		a.Answer = result.No
	default:
		a.Answer = result.NotSure
		if r := a.choose(func(r *Row) bool { return r.Pays != "" && r.Speedup.Median >= far }); r != nil {
			best = r
		} else if len(answers) < 2 {
			best = nil // nothing to compare the loop with
		}
	}
	if best != nil {
		a.Best, a.Call = best.Name, best.Call
	}
}

// crowded reports whether other programs left a function that computes less than
// half of the processors beyond the first one, so that it could gain little.
func (a *Advice) crowded() bool {
	m, own := a.Result.Machine, a.Result.Processors
	return a.Work != Waits && own > 1 && m.Others != nil && float64(a.cores)-*m.Others < float64(1+own)/2
}

// total is the time of the loop in ns.
func (a *Advice) total() float64 { return a.Item.Median * float64(a.Items) }

// tiny reports whether the list is too short for any goroutine.
func (a *Advice) tiny() bool { return a.total() < float64(start) }

// short says that an item is too short for a call of its own, where stint.Range
// with one at once has four fifths of the speed of the loop or less; or it is empty.
func (a *Advice) short() string {
	one := a.row("limit-1")
	if one == nil || one.Speedup.Median > 0.8 {
		return ""
	}
	call := a.Item.Median * (1/one.Speedup.Median - 1)
	return fmt.Sprintf("An item takes %s, too short for a call of stint.Range, which takes %s more; par.Range is for a loop of such items.", seconds(a.Item.Median), seconds(call))
}

// choose returns the simplest of the rows that pay and are not clearly slower than
// the fastest of them: what needs no number before what needs one, and a small limit
// before a large one. It returns nil if none pays.
func (a *Advice) choose(pays func(*Row) bool) *Row {
	best := fastest(a.Rows, pays)
	order := []*Row{a.self()}
	if a.Work == Computes {
		order = []*Row{a.row(parName), a.self()}
	}
	for i := range a.Rows {
		if a.Rows[i].Limit > 0 {
			order = append(order, &a.Rows[i])
		}
	}
	for _, r := range order {
		if r != nil && pays(r) && near(r, best) {
			return r
		}
	}
	return best
}

// near reports whether it may be that a row takes at most Worth times the time of
// another one.
func near(r, best *Row) bool {
	e := stats.Median(stats.Ratios(r.times, best.times))
	least := e.Median
	if e.Interval != nil {
		least = e.Interval.Lo
	}
	return r == best || least <= Worth
}

// warn adds to the doubts of the result those about how this was measured. That runs
// vary by more than the rows differ matters only where that leaves the answer open,
// that there are few is said together with what more would take, and a sample is longer
// than the run that the result takes it for, where that was repeated.
func (a *Advice) warn(e evidence, rounds int, interrupted bool) {
	hurried := rounds < fewest && e.spent && !interrupted
	a.Warnings = slices.DeleteFunc(slices.Clone(a.Result.Warnings), func(w result.Warning) bool {
		switch w.Kind {
		case result.Spread:
			return a.Answer != result.NotSure
		case result.Samples:
			return hurried
		}
		return w.Kind == result.Timer
	})
	add := func(kind, format string, args ...any) {
		a.Warnings = append(a.Warnings, result.Warning{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if a.Items < a.N {
		add(Short, "only the first %d of %d items were measured; all would take a budget of some %v", a.Items, a.N, whole(e.needed(a.N, fewest+1)))
	}
	if hurried {
		needed := max(e.needed(a.Items, fewest+1), a.Budget*(fewest+2)/time.Duration(rounds+1)) // the first items may have been too quick
		add(Short, "in %v there were less than %d rounds of %s, which give an interval; they take some %v", a.Budget, fewest, count(a.Items), whole(needed))
	}
	if step := time.Duration(a.Result.Machine.Timer); e.shortest > 0 && e.shortest < 100*step {
		add(result.Timer, "a sample took %v, and the clock goes by steps of %v", e.shortest, step)
	}
}

// needed is the budget for so many rounds of n items.
func (e evidence) needed(n, rounds int) time.Duration {
	return time.Duration(float64(rounds) * e.round() * float64(n) * e.item / used)
}

// round is how many times the time of the loop a round takes, about.
func (e evidence) round() float64 {
	if e.waits() {
		return waitingRound
	}
	return computingRound
}

// waits reports whether the first items are known to wait.
func (e evidence) waits() bool { return e.share > 0 && e.share <= waiting }

// whole is d for people, and not less.
func whole(d time.Duration) time.Duration {
	unit := time.Millisecond
	if d > time.Second {
		unit = time.Second
	}
	return (d + unit - 1).Truncate(unit)
}

// why gives the reason of the answer.
func (a *Advice) why() string {
	switch {
	case a.N == 0:
		return "There is nothing to do."
	case a.N == 1:
		return "There is nothing that could run beside one item."
	case a.Answer == result.Yes:
		return a.row(a.Best).faster() + a.beside() + a.ofSome()
	case a.Answer == result.No:
		return a.whyNot()
	}
	return a.soFar()
}

// soFar says what was seen, and what is missing for a certain answer.
func (a *Advice) soFar() string {
	best := fastest(a.Rows, func(r *Row) bool { return r.Pays != "" && (r.Name == a.Best || a.Best == loopName) })
	if best == nil {
		return "Nothing was measured beside the loop."
	}
	text := best.was()
	switch {
	case a.crowded():
		text += fmt.Sprintf(" while other programs used %.2f of %d processors, which a function that computes needs: let them end first. %s", *a.Result.Machine.Others, a.cores, a.short())
	case best.few():
		text += fmt.Sprintf(" in so few rounds (%d), which is no proof: more time gives one.", best.Speedup.N)
	default:
		text += ": it may pay, or may not. More time or a quieter machine may decide."
	}
	last := " If this holds, write what follows."
	if a.Best == loopName {
		last = " Until that is known the loop is simpler."
	}
	return strings.TrimRight(text, " ") + last
}

// ofSome says of how many items a figure is, if not of all.
func (a *Advice) ofSome() string {
	if a.Items == a.N {
		return ""
	}
	return fmt.Sprintf(" That is of the first %s. For all %d it may be more or less, and no limit above %d was tried: the warning says what budget all of them take.", count(a.Items), a.N, a.Items)
}

// faster says how fast a row is.
func (r *Row) faster() string {
	text := fmt.Sprintf("%s is %s times as fast as the loop.", r.Name, interval(r.Speedup, times))
	if r.few() {
		text += fmt.Sprintf(" In each of %d rounds it was %v times as fast or more; if its median were less, that would be seen in 1 of %d cases at most.", r.Speedup.N, far, 1<<r.Speedup.N)
	}
	return text
}

// was is the same as what was seen and may be otherwise.
func (r *Row) was() string {
	return fmt.Sprintf("%s was %s times as fast as the loop", r.Name, interval(r.Speedup, times))
}

// beside says why it is not stint.Range without a limit that is advised.
func (a *Advice) beside() string {
	best := a.row(a.Best)
	if short := a.short(); short != "" && best.Name == parName {
		return " " + short
	}
	if best.Limit == 0 || a.self() == nil {
		return ""
	}
	return fmt.Sprintf(" %s takes %s times as long as that.", a.self().Name, interval(stats.Median(stats.Ratios(a.self().times, best.times)), times))
}

// whyNot says what keeps the items from running side by side with profit.
func (a *Advice) whyNot() string {
	short := a.short()
	switch {
	case a.tiny():
		return fmt.Sprintf("All items take %s together; to start a goroutine and to wait for it is worth it from some %v.", seconds(a.total()), start)
	case a.Share.Median >= 1.5:
		return fmt.Sprintf("The function keeps %s processors busy by itself.", times(a.Share.Median))
	case a.Work == Computes && a.Result.Processors == 1:
		return "It computes, and there is one processor."
	case short != "" && a.row(parName) != nil:
		return short + " That does not pay here either."
	case short != "":
		return short
	case a.Work == Computes:
		return "It computes, but more processors do not help: perhaps the items wait for one lock or for memory."
	case a.Work == Waits:
		return "It waits, but several at once do not wait less: perhaps for one lock, one connection or one disk."
	}
	return "Several at once do not end sooner: perhaps they need the same lock, connection, disk or processor."
}

// start is the time of a list below which package par stays on one goroutine.
const start = 60 * time.Microsecond
