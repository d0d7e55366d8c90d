//go:build race

package errgroup

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stint-go/stint/errgroup"
	original "golang.org/x/sync/errgroup"
)

// limits are the limits of the groups; -1 is none.
var limits = [...]int{1, 2, 3, 4, -1}

// The race detector reports a racing program with our package as often as with the original,
// whatever the limit. It forgets some accesses: one run in fifty goes without a report.
func TestRacesAreReportedAsOften(t *testing.T) {
	const runs, tolerated = 40, 6
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childVar, runs),
		"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0 atexit_sleep_ms=0")
	output, err := c.Output() // the reports themselves go to the standard error
	if err != nil {
		t.Fatal(err)
	}
	var reports [2][len(limits)]int // of ours and the original
	if err := json.Unmarshal(output, &reports); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for i, ours := range reports[0] {
		if original := reports[1][i]; ours < original-tolerated || i > 0 && original < runs/2 || i == 0 && ours > 0 {
			t.Errorf("limit %d: %d of %d runs were reported, and %d with the original", limits[i], ours, runs, original)
		}
	}
}

const childVar = "STINT_RACE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) == "" {
		os.Exit(m.Run())
	}
	var runs int
	fmt.Sscan(os.Getenv(childVar), &runs)
	var reports [2][len(limits)]int
	for i, g := range []func() group{func() group { return new(errgroup.Group) }, func() group { return new(original.Group) }} {
		for k, limit := range limits {
			for range runs {
				before := runtime.RaceErrors()
				race(g(), limit)
				if runtime.RaceErrors() > before {
					reports[i][k]++
				}
			}
		}
	}
	json.NewEncoder(os.Stdout).Encode(reports)
}

// race runs tasks that use variables without a lock. Without a limit, which orders none, most
// have ended when the next one starts.
func race(g group, limit int) {
	g.SetLimit(limit)
	counter, list := 0, []int(nil)
	for i := range 20 {
		g.Go(func() error {
			counter++
			list = append(list, i)
			return nil
		})
		if limit < 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	g.Wait()
}
