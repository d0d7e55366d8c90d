//go:build race

package sharp

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Whatever entry point runs a program's tasks, the detector reports it under each limit above
// 1, however short the tasks are, and under a limit of 1 it reports nothing. It forgets some
// accesses, so a few runs go without a report: one in fifty, and one in eight with two
// callers of Do. Without package race it reports one run in ten.
func TestRacesAreReported(t *testing.T) {
	runs := 2 * len(programs)
	reports := measure(t, 2)
	for _, e := range entryPoints {
		n := map[int]int{} // by limit
		for _, p := range programs {
			for _, limit := range limits {
				n[limit] += reports[fmt.Sprintf("%s/%s/%d", e.name, p.name, limit)]
			}
		}
		if n[1] > 0 || min(n[2], n[4]) < runs/2 || n[2]+n[4] < 2*runs*3/4 {
			t.Errorf("%s: by limit, %v of %d runs were reported each", e.name, n, runs)
		}
	}
}

var limits = []int{1, 2, 4}

const childVar = "STINT_SHARP_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) == "" {
		os.Exit(m.Run())
	}
	var runs int
	fmt.Sscan(os.Getenv(childVar), &runs)
	for _, e := range entryPoints {
		for _, limit := range limits {
			for _, p := range programs {
				fmt.Printf("%s/%s/%d\t%d\n", e.name, p.name, limit, reported(e, p, limit, runs))
			}
		}
	}
}

// reported returns how many of the runs the detector reports.
func reported(e entryPoint, p program, limit, runs int) (n int) {
	for range runs {
		before := runtime.RaceErrors()
		e.run(limit, p.make())
		if runtime.RaceErrors() > before {
			n++
		}
	}
	return n
}

// measure returns the reports of each entry point, program and limit. They run in another
// process, which is not a test that fails with the first report, and reports a race again.
func measure(t *testing.T, runs int) map[string]int {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childVar, runs),
		"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0 atexit_sleep_ms=0")
	output, err := c.Output() // the reports themselves go to the standard error
	if err != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	reports := map[string]int{}
	for line := range strings.Lines(string(output)) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var n int
		if _, err := fmt.Sscan(count, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		reports[name] = n
	}
	if want := len(entryPoints) * len(programs) * len(limits); len(reports) != want {
		t.Fatalf("%d results, want %d", len(reports), want)
	}
	return reports
}
