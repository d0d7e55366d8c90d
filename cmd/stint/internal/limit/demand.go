package limit

import (
	"fmt"
	"math"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	minWall     = 5 * time.Millisecond // of a job, between two samples
	raiseFactor = 4                    // of the limit, at most, at each look
	sameShare   = 0.8                  // of the larger of two limits: if the other is closer, it is the same
	saturated   = 0.92                 // of the CPUs: more jobs cannot use more
	fade        = 0.7                  // what a look counts for at the next one
)

// A sample is what was seen of a running job last.
type sample struct {
	at        time.Time
	cpu, wait time.Duration // since the start
	startup   time.Duration // of cpu and wait, what is not counted yet
	seen      bool          // it was sampled
}

// A demand is how much CPU a job wants: the share of its time in which it has one or waits
// for one. So it grows when many jobs share the CPUs. What a job uses counts once, when the
// job is sampled or ends, so that it does not matter how many of the jobs are sampled.
type demand struct {
	cpus float64
	want float64 // seconds in which jobs wanted a CPU,
	wall float64 // of so many seconds in which they ran
	used float64 // CPU seconds since the last look
}

// sampled counts what a running job has used since its last sample. Until the second one, the
// start of the process is most of what it has used: that counts if the job goes on like that,
// or when it ends.
func (d *demand) sampled(s *sample, now time.Time, cpu, wait time.Duration) {
	wall := now.Sub(s.at)
	if wall < minWall {
		return
	}
	used, waited := max(0, cpu-s.cpu), max(0, wait-s.wait)
	d.used += used.Seconds()
	d.wall += wall.Seconds()
	if s.seen || 2*(used+waited) > wall {
		d.want += (used + waited).Seconds()
	} else {
		s.startup = used + waited
	}
	s.at, s.cpu, s.wait, s.seen = now, cpu, wait, true
}

// finished counts what a job has used since its last sample. How long it has waited for a CPU
// is not known; saturation shows that.
func (d *demand) finished(s *sample, r process.Result) {
	if s == nil {
		return
	}
	used := max(0, r.CPU-s.cpu).Seconds()
	d.want += used + s.startup.Seconds()
	d.wall += max(0, r.Start.Add(r.Elapsed).Sub(s.at)).Seconds()
	d.used += used
}

// limit returns how many jobs keep the CPUs busy, and why: with a share u each, so many that
// the number that want a CPU is rarely below the number of CPUs. now is the limit, and elapsed
// the time since the last call.
func (d *demand) limit(now int, elapsed time.Duration) (int, string) {
	if d.wall == 0 {
		return now, ""
	}
	u := max(d.want/d.wall, 1e-4)
	busy := d.used / (d.cpus * elapsed.Seconds())
	d.want, d.wall, d.used = d.want*fade, d.wall*fade, 0
	n := int((d.cpus + math.Sqrt(d.cpus*max(0, 1-u))) / u)
	n = max(n, int(d.cpus))
	reason := "a job wants a CPU " + percent(u) + " of its time"
	switch {
	case n > now && busy > saturated:
		return now, "the CPUs are busy"
	case float64(now) < sameShare*float64(n):
		return min(n, raiseFactor*now), reason
	case float64(n) < sameShare*float64(now):
		return n, reason
	}
	return now, ""
}

// percent returns a share as a whole number of percent, or with one digit if it is smaller.
func percent(share float64) string {
	if share < 0.01 {
		return fmt.Sprintf("%.1g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
