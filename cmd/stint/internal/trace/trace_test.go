package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// decoded is an event as a reader of the file has it.
type decoded struct {
	Time     int64          `json:"ts"`
	Phase    string         `json:"ph"`
	Process  int            `json:"pid"`
	Lane     int            `json:"tid"`
	Duration int64          `json:"dur"`
	Name     string         `json:"name"`
	Args     map[string]any `json:"args"`
}

// newTrace returns a Trace in a file, and what reads that after Close.
func newTrace(t *testing.T) (*Trace, func() []decoded) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.json")
	tr, err := Create(name, console.New(t.Output()), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	return tr, func() (events []decoded) {
		t.Helper()
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &events)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		return events
	}
}

func attempt(seq int64, slot int, start time.Time, elapsed time.Duration) *Attempt {
	item := fmt.Sprint("item ", seq)
	return &Attempt{Seq: seq, Attempts: 1, Slot: slot, Items: []string{item}, Command: func() string { return "true '" + item + "'" }, Result: process.Result{Start: start, Elapsed: elapsed}}
}

// lanes returns the attempts in each lane, sorted. They must not overlap, and have the name of the lane.
func lanes(t *testing.T, events []decoded) map[string][]decoded {
	t.Helper()
	names, all := make(map[string]string), make(map[string][]decoded)
	for _, e := range events {
		switch key := fmt.Sprint(e.Process, " ", e.Lane); e.Phase {
		case "M":
			names[key] = fmt.Sprint(e.Args["name"])
		case "X":
			if names[key] == "" {
				t.Errorf("the lane %s has no name before %v", key, e)
			}
			all[key] = append(all[key], e)
		}
	}
	for key, list := range all {
		slices.SortFunc(list, func(a, b decoded) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Duration, b.Duration))
		})
		for i := 1; i < len(list); i++ {
			if before := list[i-1]; list[i].Time < before.Time+before.Duration {
				t.Errorf("lane %s: %v begins before the end of %v", key, list[i], before)
			}
		}
	}
	return all
}

// TestHosts has attempts of several hosts come in the order of their ends, or a little later, without
// slots. Where they come in order no more lanes are made than jobs ran concurrently.
func TestHosts(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		tr, read := newTrace(t)
		most, late := 1+rnd.IntN(6), seed%2 == 1
		var attempts []*Attempt
		for _, host := range []string{"first", "second"} {
			for range most { // each slot of the host
				at := tr.began
				for range 10 {
					at = at.Add(time.Duration(rnd.IntN(3)) * time.Millisecond)
					a := attempt(int64(len(attempts)), 0, at, time.Duration(rnd.IntN(20))*time.Millisecond)
					a.Host, at = host, at.Add(a.Elapsed)
					attempts = append(attempts, a)
				}
			}
		}
		slices.SortStableFunc(attempts, func(a, b *Attempt) int { return a.Start.Add(a.Elapsed).Compare(b.Start.Add(b.Elapsed)) })
		if late {
			for i := range attempts {
				k := min(i+rnd.IntN(3), len(attempts)-1)
				attempts[i], attempts[k] = attempts[k], attempts[i]
			}
		}
		for _, a := range attempts {
			tr.Attempt(a)
		}
		events := read()
		all, n := lanes(t, events), 0
		for _, list := range all {
			n += len(list)
		}
		if n != len(attempts) || !late && len(all) > 2*most {
			t.Errorf("seed %d: %d attempts of %d, in %d lanes; want %d at most", seed, n, len(attempts), len(all), 2*most)
		}
		if hosts := fmt.Sprint(processes(events)); hosts != "map[1:stint run 2:first 3:second]" && hosts != "map[1:stint run 2:second 3:first]" {
			t.Errorf("seed %d: the processes are %s", seed, hosts)
		}
	}
}

func processes(events []decoded) map[int]string {
	names := make(map[int]string)
	for _, e := range events {
		if e.Name == "process_name" {
			names[e.Process] = fmt.Sprint(e.Args["name"])
		}
	}
	return names
}

// TestAttempts wants each attempt of a job, and all that is known of it.
func TestAttempts(t *testing.T) {
	tr, read := newTrace(t)
	killed := attempt(7, 1, tr.began, time.Second)
	killed.Signal, killed.CPU, killed.MaxRSS, killed.Failure = 9, 1500*time.Millisecond, 3e6, "killed by signal 9"
	again := attempt(7, 1, tr.began.Add(3*time.Second), time.Second)
	again.Attempts, again.Items = 2, []string{"a\tb", "<\xff>"}
	block := attempt(8, 2, time.Time{}, 0)
	block.Items, block.Exit, block.Failure = nil, 127, "cannot be started: no"
	many := attempt(9, 2, time.Now(), 0)
	many.Items = slices.Repeat([]string{strings.Repeat("x", 9000)}, 5000)
	for _, a := range []*Attempt{killed, again, block, many} {
		tr.Attempt(a)
	}
	var got []string
	for _, e := range read() {
		if e.Phase == "X" {
			text, _ := json.Marshal(e.Args)
			got = append(got, fmt.Sprintf("%d %s %s", e.Duration, e.Name, text))
		}
	}
	if last := got[len(got)-1]; len(last) > 20_000 {
		t.Errorf("an attempt with many items has %d bytes", len(last))
	}
	want := []string{
		`1000000 item 7: killed by signal 9 {"attempt":1,"command":"true 'item 7'","cpu_seconds":1.5,"error":"killed by signal 9","exit":0,"host":"","items":["item 7"],"max_rss_bytes":3000000,"seq":7,"signal":9}`,
		`1000000 a\tb <\377>, attempt 2 {"attempt":2,"command":"true 'item 7'","cpu_seconds":0,"error":"","exit":0,"host":"","items":["a\\tb","\u003c\\377\u003e"],"max_rss_bytes":0,"seq":7,"signal":0}`,
		`0 true 'item 8': cannot be started: no {"attempt":1,"command":"true 'item 8'","cpu_seconds":0,"error":"cannot be started: no","exit":127,"host":"","items":null,"max_rss_bytes":0,"seq":8,"signal":0}`,
	}
	if !slices.Equal(got[:len(got)-1], want) {
		t.Errorf("the attempts are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLimit wants the counters to be what the samples say, each change at its time.
func TestLimit(t *testing.T) {
	tr, read := newTrace(t)
	at := func(ms int) time.Time { return tr.began.Add(time.Duration(ms) * time.Millisecond) }
	var history []stint.LimitChange
	var want []string
	for i := 1; i <= 300; i++ {
		c := stint.LimitChange{Time: at(10 * i), Limit: 1 + i*7%5, Reason: fmt.Sprint("reason ", i/3)}
		history = append(history, c)
		want = append(want, fmt.Sprint(c.Time.UnixMicro(), " ", c.Limit))
		if i%7 == 0 { // a Limit remembers the last changes only
			tr.Sample(at(10*i+5), limit.State{Limit: c.Limit, Reason: c.Reason, History: history[max(0, i-20):]}, i%3)
		}
	}
	tr.Sample(at(3010), limit.State{Limit: 9, Reason: "by hand"}, 0)
	want = append(want, fmt.Sprint(at(3010).UnixMicro(), " 9"))
	var counted, reasons []string
	for _, e := range read() {
		switch {
		case e.Phase == "C" && e.Name == "limit":
			counted = append(counted, fmt.Sprint(e.Time, " ", e.Args["jobs"]))
		case e.Phase == "i":
			reasons = append(reasons, e.Name)
		}
	}
	want = slices.Delete(want, 294, 300) // changes 295 to 300 came after the last sample
	if !slices.Equal(counted, want) {
		t.Errorf("the limit was\n%q, want\n%q", counted, want)
	}
	if len(reasons) != len(want) || reasons[2] != "limit 2: reason 1" || reasons[len(reasons)-1] != "limit 9: by hand" {
		t.Errorf("%d changes of %d: %q", len(reasons), len(want), reasons)
	}
}
