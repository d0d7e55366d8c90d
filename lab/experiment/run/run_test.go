package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

// small are sizes for stint run alone.
var small = sizes{
	trues: 3, gzips: 3, gzipBytes: 1000, sleeps: 3, sleep: time.Millisecond, mixed: 3, half: time.Millisecond,
	holders: 3, hold: 2e6, room: 1e8, holding: time.Millisecond, items: 1000, outputs: 3, bytes: 1e5,
	remote: 10, remoteSamples: 1, few: true, own: true,
}

func TestRun(t *testing.T) {
	for _, name := range []string{"sh", "true", "echo", "gzip", "sleep"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	if os.Getenv("GOWORK") == "off" {
		t.Skip("without the workspace the command cannot be built")
	}
	want := trial.Want{Processors: runtime.GOMAXPROCS(0), Cases: 12, Verdicts: 14}
	if dir, err := makeGroup(small.room); err != nil { // no row of memory
		want.Cases, want.Verdicts = 11, 12
	} else {
		removeGroup(dir)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	trial.Run(t, run, small, want)
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A row that cannot be measured is skipped with the reason.
func TestSkipped(t *testing.T) {
	defer func(all []group) { groups = all }(groups)
	groups = []group{{root: filepath.Join(t.TempDir(), "none")}}
	var log strings.Builder
	l := &lab{sizes: sizes{hold: 1e6, room: 1e6}, Bench: (&experiment.Session{Cases: []string{"memory"}, Log: &log}).NewBench("run", "")}
	err := l.measure(t.Context())
	if r, err := l.Conclude(err); err != nil || len(r.Notes) != 1 || !strings.HasPrefix(log.String(), "run: memory=1MB/jobs=0 is skipped: ") {
		t.Errorf("notes %q, log %q, %v", r.Notes, log.String(), err)
	}
}

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWrong(t *testing.T) {
	it := batch{n: 3, text: numbered}
	for _, c := range []struct {
		output  string
		repeat  int
		ordered bool
		want    int
	}{
		{"0000 1 2\n", 1, true, 0},
		{"echo 0\necho 1\necho 2\n", 1, true, 0},
		{"0 0 1 1 2 2", 2, true, 0},
		{"2 0 1", 1, false, 0},
		{"2 0 1", 1, true, 1},
		{"0 2", 1, true, 1},
		{"0 1 1 2 2 2", 1, true, 2},
		{"", 1, false, 3},
	} {
		if got, err := it.wrong(write(t, c.output), c.repeat, c.ordered); got != c.want || err != nil {
			t.Errorf("%q: %d are wrong, %v, want %d", c.output, got, err, c.want)
		}
	}
	for _, output := range []string{"0 1 2 3", "0 1 x", "-1"} {
		if got, err := it.wrong(write(t, output), 1, false); err == nil {
			t.Errorf("%q: %d are wrong, want an error", output, got)
		}
	}
}

func TestReport(t *testing.T) {
	job := func(start string, seconds float64) string {
		return fmt.Sprintf(`{"seq":1,"start":"2026-01-01T00:00:%sZ","time":%v,"status":0,"stdout":"x\n"}`+"\n", start, seconds)
	}
	jobs := job("00", 1) + job("00.5", 2) + job("01", 0.5) + job("02", 1)
	r, err := readReport(write(t, jobs+`{"jobs":4,"succeeded":3,"failed":1,"concurrency":{"limit":2,"reason":"why"}}`+"\n"))
	if err != nil || r.Succeeded != 3 || r.Concurrency.Limit != 2 || r.Concurrency.Reason != "why" || r.atOnce != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, text := range []string{jobs, jobs + `{"jobs":5}`, jobs + "x"} {
		if _, err := readReport(write(t, text)); err == nil {
			t.Errorf("%q: want an error", text[len(jobs):])
		}
	}
}

// Programs of one name are told apart by what they say.
func TestPeers(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	var path []string
	for _, p := range []struct{ name, says string }{
		{"parallel", "parallel: invalid option\nparallel [OPTIONS] command -- arguments\n\tfor each argument, run command with argument, in parallel"},
		{"parallel", "GNU parallel 20221122\nCopyright"},
		{"rush", "rush (GNU Rush) 2.3"},
		{"rust-parallel", "rust-parallel 1.24.0"},
	} {
		file := write(t, "#!/bin/sh\necho '"+p.says+"'\n")
		dir := filepath.Dir(file)
		if err := os.Rename(file, filepath.Join(dir, p.name)); err != nil {
			t.Fatal(err)
		}
		path = append(path, dir)
	}
	t.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
	var got []string
	for _, p := range findPeers(t.Context()) {
		got = append(got, p.Name, p.version, p.args(batch{command: []string{"c"}, jobs: 2, n: 1, text: numbered})[0])
	}
	want := []string{
		nameGNU, nameGNU + ": GNU parallel 20221122", filepath.Join(path[1], "parallel"),
		nameMoreutils, nameMoreutils, filepath.Join(path[0], "parallel"),
		nameRust, nameRust + ": rust-parallel 1.24.0", filepath.Join(path[3], "rust-parallel"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommandLines(t *testing.T) {
	fit, two, free := batch{fit: true, ordered: true}, batch{jobs: 2}, batch{ordered: true}
	for _, c := range []struct {
		name string
		b    batch
		want string
	}{
		{nameXargs, fit, "c -x"},
		{nameXargs, two, "-n 1 -P 2 c -x"},
		{nameGNU, fit, "-k -X c -x"},
		{nameGNU, two, "-j 2 c -x"},
		{nameGNU, free, "-k c -x"},
		{nameGNU, batch{others: 9}, "-j 9 c -x"},
		{nameXargs, batch{others: 9}, "-n 1 -P 9 c -x"},
		{nameMoreutils, two, "-j 2 c -x -- 0 1"},
		{nameRush, two, "-j 2 c -x {}"},
		{nameRust, two, "-j 2 c -x"},
	} {
		c.b.command, c.b.n, c.b.text = []string{"c", "-x"}, 2, strconv.Itoa
		for _, k := range candidates {
			if got := strings.Join(k.args(c.b), " "); k.name == c.name && got != c.want {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
	l := &lab{exe: "stint"}
	b := batch{command: []string{"c"}, flags: []string{"-X"}}
	if got := l.ours(0).args(b); !slices.Equal(got, []string{"stint", "run", "-X", "c"}) {
		t.Errorf("got %q", got)
	}
	if m := l.ours(4); !slices.Equal(m.args(b), []string{"stint", "run", "-j", "4", "-X", "c"}) || m.Name != "jobs-4" || m.Kind != result.Peer {
		t.Errorf("got %+v, %q", m, m.args(b))
	}
}
