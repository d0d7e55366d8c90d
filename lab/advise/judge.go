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

// observed is what is known besides the samples.
type observed struct {
	item        float64            // ns of an item in the first items
	share       float64            // of CPU time in these; 0: not known
	budgetSpent bool               // the budget ran out
	shortest    time.Duration      // shortest sample; 0: none
	limiter     stint.LimiterStats // of the last run without a fixed limit
}

// judge computes the advice from the samples in Result.
func (a *Advice) judge(e observed, interrupted bool) {
	rounds := a.trim()
	a.Result.Cases = []result.Case{{Name: a.kase(), Doc: fmt.Sprintf("an op is %d items", a.Items), Reference: loopName, Ops: 1, Count: rounds}}
	if interrupted {
		a.Result.Cases[0].Count = maxRounds
	}
	a.Result.Conclude(a.claims())
	a.work(e)
	a.fill()
	a.auto(e.limiter)
	a.answer()
	a.Reason = a.why()
	if last := a.last(); a.Highest == "" && last != "" {
		a.Highest = "limits above " + last + " were not tried: the time was over"
	}
	a.warn(e, rounds, interrupted)
}

// kase names the only case.
func (a *Advice) kase() string { return fmt.Sprintf("n=%d", a.Items) }

// trim drops rows without samples and, if there are enough others, the warm-up
// round. It returns the number of complete rounds.
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
	if least <= minIntervalRounds {
		return least
	}
	for i := range rows {
		rows[i].Samples = rows[i].Samples[1:]
	}
	return least - 1
}

// claims returns a claim for each concurrent row.
func (a *Advice) claims() []result.Claim {
	var out []result.Claim
	for _, row := range a.Rows {
		if row.Name != loopName && row.Limit != 1 {
			out = append(out, result.Claim{Case: a.kase(), Model: row.Name, Unit: measure.Time, Form: result.Speedup, Than: loopName, Bar: MinSpeedup})
		}
	}
	return out
}

// fill sets the figures of the rows and drops rows without any.
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
		if r.Pays == result.NotSure && r.tooFewRounds() && !a.tiny() && len(speedups) >= minClearRounds && slices.Min(speedups) >= clearSpeedup {
			r.Pays = result.Yes
		}
	}
}

// tooFewRounds reports whether the row has too few rounds for an interval.
func (r *Row) tooFewRounds() bool { return r.Speedup.Interval == nil }

// values returns the values of a unit in a row, one per round, or nil.
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

// work sets the kind of work, from the samples of the loop or else from the
// first items.
func (a *Advice) work(e observed) {
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

// row returns the named row, or nil.
func (a *Advice) row(name string) *Row {
	for i := range a.Rows {
		if a.Rows[i].Name == name {
			return &a.Rows[i]
		}
	}
	return nil
}

// last returns the name of the largest limit, or "".
func (a *Advice) last() string {
	name := ""
	for _, r := range a.Rows {
		if r.Limit > 0 {
			name = r.Name
		}
	}
	return name
}

// adaptive returns the row with the adaptive limit, or nil.
func (a *Advice) adaptive() *Row {
	if r := a.row(freeName); r != nil {
		return r
	}
	return a.row(autoName)
}

// auto compares the adaptive limit with the best fixed one.
func (a *Advice) auto(last stint.LimiterStats) {
	adaptive := a.adaptive()
	if adaptive == nil {
		return
	}
	a.Auto = &Auto{Limit: stats.Median(a.values(adaptive.Name, limitUnit)), Phase: last.Phase, Reason: last.Reason}
	if best := fastest(a.Rows, func(r *Row) bool { return r.Limit > 0 }); best != nil {
		a.Auto.BestFixed, a.Auto.Ratio = best.Name, stats.Median(stats.Ratios(adaptive.times, best.times))
	}
}

// fastest returns the eligible row with the smallest median, or nil.
func fastest(rows []Row, may func(*Row) bool) *Row {
	var best *Row
	for i := range rows {
		if r := &rows[i]; may(r) && (best == nil || r.Time.Median < best.Time.Median) {
			best = r
		}
	}
	return best
}

// answer sets the answer and the recommended row.
func (a *Advice) answer() {
	answers := map[result.Answer]int{}
	for _, r := range a.Rows {
		answers[r.Pays]++
	}
	no := answers[result.No] > 0 && answers[result.NotSure] == 0 && (a.tiny() || !a.busyMachine())
	best := a.row(loopName)
	switch {
	case answers[result.Yes] > 0:
		a.Answer, best = result.Yes, a.choose(func(r *Row) bool { return r.Pays == result.Yes })
	case a.N < 2, no:
		a.Answer = result.No
	default:
		a.Answer = result.NotSure
		if r := a.choose(func(r *Row) bool { return r.Pays != "" && r.Speedup.Median >= clearSpeedup }); r != nil {
			best = r
		} else if len(answers) < 2 {
			best = nil // nothing to compare the loop with
		}
	}
	if best != nil {
		a.Best, a.Call = best.Name, best.Call
	}
}

// busyMachine reports whether other programs left a computing function less
// than half of the processors beyond the first, so that it could gain little.
func (a *Advice) busyMachine() bool {
	m, own := a.Result.Machine, a.Result.Processors
	return a.Work != Waits && own > 1 && m.Others != nil && float64(a.cores)-*m.Others < float64(1+own)/2
}

// total returns the time of the loop in ns.
func (a *Advice) total() float64 { return a.Item.Median * float64(a.Items) }

// tiny reports whether the list is too short for a goroutine.
func (a *Advice) tiny() bool { return a.total() < float64(minListTime) }

// short explains that an item is too short for a call of its own, if
// stint.Range with limit 1 has at most four fifths of the loop's speed;
// otherwise it returns "".
func (a *Advice) short() string {
	one := a.row("limit-1")
	if one == nil || one.Speedup.Median > 0.8 {
		return ""
	}
	call := a.Item.Median * (1/one.Speedup.Median - 1)
	return fmt.Sprintf("An item takes %s, too short for a call of stint.Range, which takes %s more; par.Range is for a loop of such items.", seconds(a.Item.Median), seconds(call))
}

// choose returns the simplest row that pays and is not clearly slower than the
// fastest one, or nil: rows without a number come first, then small limits.
func (a *Advice) choose(pays func(*Row) bool) *Row {
	best := fastest(a.Rows, pays)
	order := []*Row{a.adaptive()}
	if a.Work == Computes {
		order = []*Row{a.row(parName), a.adaptive()}
	}
	for i := range a.Rows {
		if a.Rows[i].Limit > 0 {
			order = append(order, &a.Rows[i])
		}
	}
	for _, r := range order {
		if r != nil && pays(r) && nearlyAsFast(r, best) {
			return r
		}
	}
	return best
}

// nearlyAsFast reports whether r may be within MinSpeedup of best.
func nearlyAsFast(r, best *Row) bool {
	e := stats.Median(stats.Ratios(r.times, best.times))
	least := e.Median
	if e.Interval != nil {
		least = e.Interval.Lo
	}
	return r == best || least <= MinSpeedup
}

// warn adds warnings about the measurement to those of the result. It drops three kinds:
// about wide intervals, unless the answer is open; about few rounds, if it adds a more
// precise one; and about short samples, since samples may be repeated runs.
func (a *Advice) warn(e observed, rounds int, interrupted bool) {
	hurried := rounds < minIntervalRounds && e.budgetSpent && !interrupted
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
		add(Short, "only the first %d of %d items were measured; all would take a budget of about %v", a.Items, a.N, roundUp(e.needed(a.N, minIntervalRounds+1)))
	}
	if hurried {
		needed := max(e.needed(a.Items, minIntervalRounds+1), a.Budget*(minIntervalRounds+2)/time.Duration(rounds+1)) // the first items may have been fast
		add(Short, "%v allowed less than %d rounds of %s, which an interval needs; they take about %v", a.Budget, minIntervalRounds, count(a.Items), roundUp(needed))
	}
	if step := time.Duration(a.Result.Machine.Timer); e.shortest > 0 && e.shortest < 100*step {
		add(result.Timer, "a sample took %v, and the clock has steps of %v", e.shortest, step)
	}
}

// needed returns the budget for rounds of n items.
func (e observed) needed(n, rounds int) time.Duration {
	return time.Duration(float64(rounds) * e.round() * float64(n) * e.item / plannedPart)
}

// round returns the approximate time of a round relative to the loop.
func (e observed) round() float64 {
	if e.waits() {
		return waitingRound
	}
	return computingRound
}

// waits reports whether the first items are known to wait.
func (e observed) waits() bool { return e.share > 0 && e.share <= waiting }

// roundUp rounds d up for display.
func roundUp(d time.Duration) time.Duration {
	unit := time.Millisecond
	if d > time.Second {
		unit = time.Second
	}
	return (d + unit - 1).Truncate(unit)
}

// why returns the reason of the answer.
func (a *Advice) why() string {
	switch {
	case a.N == 0:
		return "There is nothing to do."
	case a.N == 1:
		return "One item cannot run concurrently."
	case a.Answer == result.Yes:
		return a.row(a.Best).faster() + a.beside() + a.ofSome()
	case a.Answer == result.No:
		return a.whyNot()
	}
	return a.soFar()
}

// soFar describes the result of an answer that is not sure, and what is
// missing.
func (a *Advice) soFar() string {
	best := fastest(a.Rows, func(r *Row) bool { return r.Pays != "" && (r.Name == a.Best || a.Best == loopName) })
	if best == nil {
		return "Nothing was measured beside the loop."
	}
	text := best.was()
	switch {
	case a.busyMachine():
		text += fmt.Sprintf(" while other programs used %.2f of %d processors, which a computing function needs: let them end first. %s", *a.Result.Machine.Others, a.cores, a.short())
	case best.tooFewRounds():
		text += fmt.Sprintf(" in too few rounds (%d) for a proof: allow more time.", best.Speedup.N)
	default:
		text += ": it may pay, or may not. More time or a quieter machine may decide."
	}
	last := " If this holds, use this code."
	if a.Best == loopName {
		last = " Until then the loop is simpler."
	}
	return strings.TrimRight(text, " ") + last
}

// ofSome qualifies a figure if not all items were measured.
func (a *Advice) ofSome() string {
	if a.Items == a.N {
		return ""
	}
	return fmt.Sprintf(" That is of the first %s. All %d may gain more or less, and no limit above %d was tried: the warning names the budget for all of them.", count(a.Items), a.N, a.Items)
}

// faster describes the speedup of a row.
func (r *Row) faster() string {
	text := fmt.Sprintf("%s is %s times as fast as the loop.", r.Name, interval(r.Speedup, times))
	if r.tooFewRounds() {
		text += fmt.Sprintf(" In each of %d rounds it was at least %v times as fast; if its median were less, at most 1 of %d cases would show that.", r.Speedup.N, clearSpeedup, 1<<r.Speedup.N)
	}
	return text
}

// was describes the observed speedup of a row.
func (r *Row) was() string {
	return fmt.Sprintf("%s was %s times as fast as the loop", r.Name, interval(r.Speedup, times))
}

// beside explains why the recommended row is not stint.Range without a limit.
func (a *Advice) beside() string {
	best := a.row(a.Best)
	if short := a.short(); short != "" && best.Name == parName {
		return " " + short
	}
	if best.Limit == 0 || a.adaptive() == nil {
		return ""
	}
	return fmt.Sprintf(" %s takes %s times as long.", a.adaptive().Name, interval(stats.Median(stats.Ratios(a.adaptive().times, best.times)), times))
}

// whyNot explains why concurrency does not pay.
func (a *Advice) whyNot() string {
	short := a.short()
	switch {
	case a.tiny():
		return fmt.Sprintf("All items take %s together; a goroutine pays from about %v.", seconds(a.total()), minListTime)
	case a.Share.Median >= 1.5:
		return fmt.Sprintf("The function keeps %s processors busy by itself.", times(a.Share.Median))
	case a.Work == Computes && a.Result.Processors == 1:
		return "It computes, and there is one processor."
	case short != "" && a.row(parName) != nil:
		return short + " That does not pay here either."
	case short != "":
		return short
	case a.Work == Computes:
		return "It computes, but more processors do not help: perhaps the items share a lock or wait for memory."
	case a.Work == Waits:
		return "It waits, but concurrent items do not wait less: perhaps they share a lock, a connection or a disk."
	}
	return "Concurrent items do not finish sooner: perhaps they share a lock, a connection, a disk or a processor."
}

// minListTime is the time of a list below which package par uses one goroutine.
const minListTime = 60 * time.Microsecond
