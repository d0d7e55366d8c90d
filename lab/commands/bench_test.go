// Package commands measures stint run beside xargs, GNU parallel and others of their kind, and stint sum beside the GNU
// tools. An op is a run of the program, whose jobs are processes too.
package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
)

func TestMain(m *testing.M) { bench.Main(m) }

// Work is a command that a tool runs for every item.
type work struct {
	command []string // the item follows
	n       int      // items
	item    string   // all items, if they are the same
	repeat  int      // how often the output has each item; 0: it is not looked at
	jobs    int      // at once; 0: as many as the tool chooses
	peers   int      // the same, of tools that do not choose
	ordered bool     // output is in the order of the items
	fit     bool     // a command gets as many items as it can
	memory  int64    // of all jobs, in a cgroup; jobs may be killed
}

// BenchmarkStart runs one job that does nothing.
func BenchmarkStart(b *testing.B) { all(b, "", work{command: []string{"true"}, n: 1}, len(tools)) }

// BenchmarkRun runs many of them, two at once: the time of a job.
func BenchmarkRun(b *testing.B) {
	w := work{command: []string{"true"}, n: bench.Short(2000, 20), jobs: 2}
	all(b, fmt.Sprintf("jobs=%d/", w.n), w, len(tools))
}

// BenchmarkLimit compares stint run without -j with fixed numbers of jobs.
func BenchmarkLimit(b *testing.B) {
	cpus, job := runtime.GOMAXPROCS(0), program(b, "job")
	unit, hold := bench.Short(50*time.Millisecond, time.Millisecond), bench.Short(300_000_000, 1_000_000)
	compute := []string{job, "-steps", strconv.Itoa(bench.Steps(unit))}
	for _, w := range []struct {
		name string
		work
		sweep []int
		tools int
	}{
		{"wait", work{command: []string{"sleep"}, n: bench.Short(1000, 20), item: fmt.Sprint((2 * unit).Seconds()), peers: 256},
			[]int{256}, 3},
		{"compute", work{command: compute, n: bench.Short(20*cpus, 4), repeat: 1}, []int{cpus, cpus + 1}, 3},
		{"both", work{command: append(compute, "-wait", unit.String()), n: bench.Short(32*cpus, 4), repeat: 1, peers: 4 * cpus},
			[]int{cpus, 2 * cpus, 4 * cpus, 16 * cpus}, 3},
		{"memory", work{command: []string{job, "-memory", strconv.Itoa(hold), "-wait", (6 * unit).String()}, n: bench.Short(18, 4), repeat: 1, memory: int64(max(200e6, 20*hold/3))}, []int{6, 12}, 1},
	} {
		all(b, "work="+w.name+"/", w.work, w.tools)
		for _, w.jobs = range w.sweep {
			b.Run(fmt.Sprintf("work=%s/limit=%d", w.name, w.jobs), func(b *testing.B) { w.measure(b, tools[0]) })
		}
	}
}

// BenchmarkFit passes as many items to a command as fit on a command line.
func BenchmarkFit(b *testing.B) {
	for _, n := range []int{bench.Short(250_000, 2500), bench.Short(1_000_000, 10_000)} {
		all(b, fmt.Sprintf("items=%d/", n), work{command: []string{"echo"}, n: n, repeat: 1, ordered: true, fit: true}, 3)
	}
}

// BenchmarkOrder has a first job that lasts two seconds. Its output comes first, and that of the others, of 1 MB each,
// must be kept until then.
func BenchmarkOrder(b *testing.B) {
	lines, first := bench.Short(50_000, 100), bench.Short(2*time.Second, 10*time.Millisecond)
	w := work{n: bench.Short(300, 3), repeat: lines, ordered: true}
	w.command = []string{program(b, "job"), "-lines", strconv.Itoa(lines), "-first", first.String()}
	for _, t := range []tool{tools[0], tools[2]} {
		b.Run("tool="+t.name, func(b *testing.B) { w.measure(b, t) })
	}
}

func all(b *testing.B, name string, w work, n int) {
	for _, t := range tools[:n] {
		b.Run(name+"tool="+t.name, func(b *testing.B) { w.measure(b, t) })
	}
}

func (w work) text(i int) string {
	if w.item != "" {
		return w.item
	}
	return fmt.Sprintf("%019d", i)
}

// measure measures a tool. What silent jobs do is not to be seen: the tool first shows with echo that it runs each.
func (w work) measure(b *testing.B, t tool) {
	if w.repeat == 0 {
		echo := work{command: []string{"echo"}, n: min(w.n, 20), repeat: 1, jobs: w.jobs, peers: w.peers}.prepare(b, t)
		if err := cmp.Or(echo.run(), echo.check()); err != nil {
			b.Fatal(err)
		}
	}
	p := w.prepare(b, t)
	bench.Process(b, p.run, p.check)
	if w.memory > 0 {
		b.ReportMetric(float64(p.wrong), "killed")
	} else if floor := exec.Command("true"); floor.Run() == nil {
		if own, most := peakRSS(floor.ProcessState), peakRSS(p.ended); most > own {
			b.ReportMetric(most, "peak-RSS-B/op")
		}
	}
}

// peakRSS returns the most memory of a process and of its children. On Linux it is at least that of this process.
func peakRSS(s *os.ProcessState) float64 {
	field := reflect.Indirect(reflect.ValueOf(s.SysUsage())).FieldByName("Maxrss")
	if runtime.GOOS != "linux" || !field.IsValid() {
		return 0
	}
	return float64(field.Int()) * 1024
}

// A process runs a tool.
type process struct {
	work
	args          []string
	input, output string
	ended         *os.ProcessState // of the last run
	wrong         int              // items in its output
}

func (w work) prepare(b *testing.B, t tool) *process {
	dir := b.TempDir()
	p := &process{work: w, args: append([]string{t.find(b)}, t.args(w)...), input: filepath.Join(dir, "items"), output: filepath.Join(dir, "output")}
	p.ordered = w.ordered || t.name == "stint"
	if w.memory > 0 {
		p.args = append([]string{"sh", "-c", enter, group(b, w.memory)}, p.args...)
	}
	f := bench.Must(os.Create(p.input))
	lines := bufio.NewWriter(f)
	for i := range w.n {
		fmt.Fprintln(lines, w.text(i))
	}
	bench.Check(cmp.Or(lines.Flush(), f.Close()))
	return p
}

func (p *process) run() error {
	in, out := bench.Must(os.Open(p.input)), bench.Must(os.Create(p.output))
	defer in.Close()
	defer out.Close()
	var said bytes.Buffer
	c := exec.Command(p.args[0], p.args[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C", "PARALLEL_HOME="+filepath.Dir(p.output))
	c.Stdin, c.Stdout, c.Stderr = in, out, &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("%.200q: %w: %.300s", c.Args, err, &said)
	}
	p.ended = c.ProcessState
	return nil
}

// check counts the items that the output has too often, too seldom, or not where they should be.
func (p *process) check() error {
	f, err := os.Open(p.output)
	if err != nil || p.repeat == 0 {
		return err
	}
	defer f.Close()
	counts, last, words := make([]int, p.n), 0, bufio.NewReader(f)
	p.wrong = 0
	for word := make([]byte, len(p.text(0))+1); ; {
		if _, err := io.ReadFull(words, word); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		i, err := strconv.Atoi(string(word[:len(word)-1]))
		if end := word[len(word)-1]; err != nil || i < 0 || i >= p.n || end != '\n' && end != ' ' {
			return fmt.Errorf("%q is not an item", word)
		}
		if p.ordered && i < last {
			p.wrong++
		}
		counts[i]++
		last = i
	}
	for _, c := range counts {
		if c != p.repeat {
			p.wrong++
		}
	}
	if p.wrong > 0 && p.memory == 0 {
		return fmt.Errorf("%d of %d items are missing, repeated or not in order", p.wrong, p.n)
	}
	return nil
}
