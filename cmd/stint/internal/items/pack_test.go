package items

import (
	"slices"
	"strings"
	"testing"
)

// TestPack checks the promises of Budget on many sizes: no job is over the limits, with Fit
// their number is the least or Jobs, and without it no job could have had the next one's first.
func TestPack(t *testing.T) {
	for seed := range 500 {
		var list []string
		total := 0
		for i := range seed % 60 {
			list = append(list, strings.Repeat("x", (seed*7+i*i*13)%19))
			total += len(list[i]) + 1
		}
		o := complete(Options{Lists: [][]string{list}, Budget: 20 + seed%50, Fit: seed%2 == 0, Jobs: 1 + seed%7, MaxArgs: seed % 5 * 3}, nil)
		it, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := collect(t.Context(), it)
		if err != nil || !slices.Equal(slices.Concat(jobs...), list) {
			t.Fatalf("%+v: %q, %v", o, jobs, err)
		}
		for i, job := range jobs {
			n := len(strings.Join(job, ",")) + 1
			if n > o.Budget || o.MaxArgs > 0 && len(job) > o.MaxArgs || len(job) == 0 {
				t.Errorf("%+v: a job has %d items of %d bytes", o, len(job), n)
			}
			if !o.Fit && i+1 < len(jobs) && len(job) < o.MaxArgs && n+len(jobs[i+1][0])+1 <= o.Budget {
				t.Errorf("%+v: job %d has %d items of %d bytes, and %q would fit", o, i, len(job), n, jobs[i+1][0])
			}
		}
		if !o.Fit {
			continue
		}
		if fits := total <= o.Budget && (o.MaxArgs == 0 || len(list) <= o.MaxArgs); fits && len(jobs) != min(o.Jobs, len(list)) {
			t.Errorf("%+v: %d jobs for %d items", o, len(jobs), len(list))
		}
	}
}
