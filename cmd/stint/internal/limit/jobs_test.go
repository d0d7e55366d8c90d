package limit

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

// TestParseJobs parses the flag, and the content of a file.
func TestParseJobs(t *testing.T) {
	cpus := machine.CPUs()
	name := filepath.Join(t.TempDir(), "n")
	for text, want := range map[string]int{ // -2: an error
		"auto": adaptive, "1": 1, "64": 64, "100%": cpus, "1%": max(1, cpus/100), "+2": cpus + 2, "-1": max(1, cpus-1), "-999": 1, "+0": cpus, "0": paused,
		"00": -2, "": -2, "x": -2, "1.5": -2, "-50%": -2, "+50%": -2, "0%": -2, "99999999999": -2, "Auto": -2, "1 2": -2,
	} {
		var j Jobs
		if err := j.Set(text); (err != nil) != (want == -2) || err == nil && j != (Jobs{n: max(adaptive, want)}) {
			t.Errorf("%q is %+v, %v", text, j, err)
		}
		write(t, name, " "+text+"\n")
		j = Jobs{}
		if err := j.Set(name); (err != nil) != (want == -2) || err == nil && (j.n != want || j.File() != name || j.N() != max(0, want)) {
			t.Errorf("%q in a file is %+v, %v", text, j, err)
		}
	}
	for _, missing := range []string{name + "2", t.TempDir(), "./x"} {
		if err := new(Jobs).Set(missing); err == nil || !strings.Contains(err.Error(), filepath.Base(missing)) {
			t.Errorf("%q: %v", missing, err)
		}
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestFile changes a file: a look each second sees it, and says once what is wrong.
func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "n")
	write(t, name, "8")
	var j Jobs
	if err := j.Set(name); err != nil {
		t.Fatal(err)
	}
	var said []string
	l, _ := still(true, 10, 0)
	l.file, l.say = j.file, func(s string) { said = append(said, s) }
	now := start
	for _, c := range []struct {
		content string // "-": the file is removed
		limit   int
		says    string
	}{
		{"8", 10, ""}, // New has set what the flag has read
		{"12\n", 12, ""},
		{"x", 12, "the number of jobs stays: --jobs "},
		{"", 12, ""}, // as bad as before
		{"-", 12, "o such file"},
		{"0", 0, "paused: running jobs finish, others start after a number in "},
		{"auto", 12, ""},
	} {
		if said = nil; c.content == "-" {
			os.Remove(name)
		} else {
			write(t, name, c.content)
		}
		l.readFile(now.Add(fileInterval - 1)) // too early
		for range 3 {
			now = now.Add(fileInterval)
			l.readFile(now)
		}
		if l.limiter.Current() != c.limit || len(said) != min(1, len(c.says)) || !strings.Contains(strings.Join(said, ""), c.says) {
			t.Errorf("%q: limit %d, want %d; said %q, want %q", c.content, l.limiter.Current(), c.limit, said, c.says)
		}
	}
}

// TestSteps adds to the number of jobs, and takes from it.
func TestSteps(t *testing.T) {
	var said []string
	l, _ := still(true, 10, 0)
	l.steps, l.say = make(chan int), func(s string) { said = append(said, s) }
	var got []int
	for _, n := range []int{1, 1, -1, -10, -1, -1, 1, 1} {
		l.step(n)
		l.look(start, time.Second)
		got = append(got, l.limiter.Current())
	}
	if !slices.Equal(got, []int{11, 12, 11, 1, 0, 0, 1, 2}) {
		t.Errorf("%d", got)
	}
	if !slices.Equal(said, []string{"paused: running jobs finish, others start after SIGUSR1"}) {
		t.Errorf("%q", said)
	}
	if s := l.State(); s.Limit != 2 || s.Reason != "set by a signal" || len(s.History) != 7 || s.History[4].Limit != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAwaitInAPause has a job that got its permit before a pause, and waited for something else.
func TestAwaitInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := still(true, 10, 0)
		l.step(-100)
		go func() {
			time.Sleep(time.Hour)
			l.step(1)
		}()
		began := time.Now()
		if err := l.Await(t.Context(), func(int64) { t.Error("it waits for memory") }); err != nil || time.Since(began) < time.Hour || time.Since(began) > time.Hour+pause {
			t.Errorf("it has waited for %v: %v", time.Since(began), err)
		}
	})
}

// TestOverloaded has many jobs say at once that too many run: the limit falls once for those that
// ran, and rises again.
func TestOverloaded(t *testing.T) {
	l, all := still(true, 20, 20)
	l.limiter.SetBounds(20, 20)
	ended := time.Now()
	for range all {
		l.Overloaded(ended.Add(-time.Second))
		l.Overloaded(ended)
	}
	if s := l.State(); s.Limit != 14 || s.Reason != overloadReason {
		t.Errorf("%+v, want 0.7 of 21", s)
	}
	runtime.Gosched()
	if l.Overloaded(time.Now().Add(time.Second)); l.bound != 14 { // 20 still run
		t.Errorf("limit %d", l.bound)
	}
	clear(l.running)
	if l.Overloaded(time.Now().Add(time.Second)); l.bound != 1 {
		t.Errorf("limit %d after a job that ran alone", l.bound)
	}
	fixed, _ := still(false, 20, 20)
	if fixed.Overloaded(time.Now()); fixed.bound != 20 {
		t.Errorf("a fixed number is %d", fixed.bound)
	}
}
