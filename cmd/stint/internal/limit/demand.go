package limit

import (
	"fmt"
	"math"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	minWall     = 5 * time.Millisecond // of a job, between two samples
	maxSpan     = time.Second          // of a job, that is counted as a whole
	raiseFactor = 4                    // of the limit, at most, at each look
	sameShare   = 0.75                 // of a limit: a lower one that is closer is the same
	idle        = 0.9                  // of the CPUs, for longer: fewer jobs would use less
	saturated   = 0.92                 // of the CPUs, since the last look: more jobs cannot use more
	lives       = 4                    // of jobs: how long a look counts, within these bounds
	minMemory   = 500 * time.Millisecond
	maxMemory   = 20 * time.Second
	forgotten   = 1e-6 // seconds in which jobs ran, of which nothing is left
)

// A sample is what was seen of a running job last, and of the span that began at most maxSpan before.
type sample struct {
	at        time.Time
	cpu, wait time.Duration // since the start of the job
	seen      bool          // it was sampled
	began     time.Time     // the span,
	ran, idle time.Duration // in which the job had a CPU, and waited for one,
	want      float64       // and of which so many seconds are counted
	size      size
}

// newSample returns that of a job that was started then.
func newSample(started time.Time) *sample {
	return &sample{at: started, began: started, size: size{born: started}}
}

// A demand is how much CPU a job wants: the share of its time in which it has one or waits
// for one. What a job uses counts once, when it is sampled or ends, however few of the jobs
// are sampled.
type demand struct {
	cpus   float64
	want   float64 // seconds in which jobs wanted a CPU,
	wall   float64 // of so many seconds in which they ran
	used   float64 // CPU seconds since the last look,
	worked float64 // and before,
	had    float64 // of so many CPU seconds that there were
	ran    float64 // CPU seconds of the jobs that were sampled
	waited float64 // seconds that these waited for a CPU
	starve float64 // seconds since jobs that now want a CPU were seen last: the kernel tells later
	life   float64 // seconds that a job lasts; 0: none has ended
	width  float64 // tokens that a job has, on average: it counts as so many; less than 1 counts as 1
}

// sampled counts what a running job has used since its last sample. Until the second one, the
// start of the process is most of what it has used: that counts if the job goes on like that,
// or later. How long a task has waited for a CPU the kernel tells when it has got one: until
// then nothing is known of a job that starts, and others are taken to want a CPU all the time.
func (d *demand) sampled(s *sample, now time.Time, cpu, wait time.Duration, ready bool) {
	wall := now.Sub(s.at)
	if wall < minWall {
		return
	}
	used, waited := max(0, cpu-s.cpu), max(0, wait-s.wait)
	if ready && 2*(used+waited) < wall {
		if s.seen || wall >= settled {
			d.starve += d.seconds(wall)
		}
		return
	}
	isKnown := s.seen || 2*(used+waited) > wall
	if d.count(s, now, used, waited, isKnown); isKnown {
		d.ran, d.waited = d.ran+used.Seconds(), d.waited+waited.Seconds()
	}
	if s.at, s.cpu, s.wait, s.seen = now, cpu, wait, true; now.Sub(s.began) >= maxSpan {
		s.began, s.ran, s.idle, s.want = now, 0, 0, 0
	}
}

// count counts what a job has used until now, since it was seen last. It wants a CPU for a part of
// its whole span: the time since then may show only that it computes, or that it waits.
func (d *demand) count(s *sample, now time.Time, used, waited time.Duration, isKnown bool) {
	d.used += used.Seconds()
	d.wall += d.seconds(now.Sub(s.at))
	if s.ran, s.idle = s.ran+used, s.idle+waited; isKnown {
		want := wanted(d.seconds(now.Sub(s.began)), s.ran.Seconds(), s.idle.Seconds())
		d.want, s.want = max(0, d.want+want-s.want), want
	}
}

// seconds returns the time of a job, of each of its tokens.
func (d *demand) seconds(wall time.Duration) float64 { return max(0, wall).Seconds() * max(1, d.width) }

// wanted returns for how many of its seconds a job would use a CPU if it had one to itself.
// That is less than it has used and waited if it also waits for something else: then it would
// have done more of that, too.
func wanted(wall, used, waited float64) float64 {
	if waited >= wall { // in several threads, some of which may have little to do
		return max(used, wall)
	}
	return min(used+waited, used*wall/(wall-waited))
}

// finished counts what a job has used since its last sample. How long it has waited for a CPU
// is not known: as long as the others, for what it has used.
func (d *demand) finished(s *sample, r process.Result) {
	if s == nil {
		return
	}
	used, end, waited := max(0, r.CPU-s.cpu), r.Start.Add(r.Elapsed), time.Duration(0)
	if d.ran > 0 {
		waited = min(time.Duration(float64(used)*d.waited/d.ran), max(0, end.Sub(s.at)-used))
	}
	d.count(s, end, used, waited, true)
	if d.life == 0 {
		d.life = r.Elapsed.Seconds()
	}
	d.life += (r.Elapsed.Seconds() - d.life) / 8
}

// limit returns how many jobs keep so many CPUs busy, and why: with a share u each, so many that
// the number that want a CPU is rarely below the number of CPUs. now is the limit, and elapsed
// the time since the last call.
func (d *demand) limit(now int, cpus float64, elapsed time.Duration) (int, string) {
	if d.cpus = cpus; d.wall+d.starve < forgotten {
		return now, ""
	}
	u := max((d.want+d.starve)/(d.wall+d.starve), 1e-4)
	had := d.cpus * elapsed.Seconds()
	busy := d.used / had
	d.worked, d.had = d.worked+d.used, d.had+had
	isIdle := d.worked < idle*d.had
	d.fade(elapsed)
	n := max(machine.Whole(d.cpus), int((d.cpus+math.Sqrt(d.cpus*max(0, 1-u)))/u+0.5))
	reason := "a job wants a CPU " + percent(u) + " of its time"
	switch {
	case n > now && busy > saturated:
		return now, "the CPUs are busy"
	case n > now:
		return min(n, raiseFactor*now), reason
	case float64(n) < sameShare*float64(now) && (!isIdle || 2*n < now):
		return n, reason
	}
	return now, ""
}

// fade begins a new look, and lets the older ones count for less.
func (d *demand) fade(elapsed time.Duration) {
	memory := maxMemory.Seconds()
	if d.life > 0 {
		memory = min(max(minMemory.Seconds(), lives*d.life), memory)
	}
	for _, sum := range []*float64{&d.want, &d.wall, &d.worked, &d.had, &d.ran, &d.waited} {
		*sum *= math.Exp(-elapsed.Seconds() / memory)
	}
	d.starve, d.used = 0, 0
}

// percent returns a share as a whole number of percent, or with one digit if it is smaller.
func percent(share float64) string {
	if share < 0.01 {
		return fmt.Sprintf("%.1g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
