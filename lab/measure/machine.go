package measure

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Machine describes where measurements were made and how busy it was.
type Machine struct {
	GOOS       string   `json:"goos"`
	GOARCH     string   `json:"goarch"`
	CPU        string   `json:"cpu,omitempty"`
	Go         string   `json:"go"`
	Processors int      `json:"processors"`       // available to this program
	Timer      int64    `json:"timer,omitempty"`  // smallest step of the clock in ns; 0: not known
	Load       *float64 `json:"load,omitempty"`   // load average of the minute before the run; nil: not known
	Others     *float64 `json:"others,omitempty"` // processors used by other programs during the runs; nil: not known
}

// Here describes this machine now, without Others.
func Here() Machine {
	return Machine{
		GOOS:       runtime.GOOS,
		GOARCH:     runtime.GOARCH,
		CPU:        cpuModel(),
		Go:         runtime.Version(),
		Processors: runtime.GOMAXPROCS(0),
		Timer:      step().Nanoseconds(),
		Load:       load(),
	}
}

// step returns the smallest step of the clock among a thousand, or among as
// many as fit into 10 ms, and at least one.
func step() time.Duration {
	least := time.Duration(0)
	began := time.Now()
	for i := range 1000 {
		before, d := time.Now(), time.Duration(0)
		for d == 0 {
			d = time.Since(before)
		}
		if i == 0 || d < least {
			least = d
		}
		if time.Since(began) > 10*time.Millisecond {
			break
		}
	}
	return least
}

// cpuModel returns the name of the processor, if the system has it in a file.
func cpuModel() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func load() *float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	l, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return nil
	}
	return &l
}

// busy returns the time that all processors have worked since the machine
// started, in units of 10 ms.
func busy() (d time.Duration, ok bool) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, false
	}
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		ticks, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, false
		}
		if i != 3 && i != 4 {
			d += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return d, true
}

// A Watch measures how much of the machine other programs use during runs.
type Watch struct {
	known      bool
	began      time.Duration // busy at the start of the current run
	wall, used time.Duration // sums over the runs: time, and time used by others
}

// Start is called before each measured run.
func (w *Watch) Start() { w.began, w.known = busy() }

// Stop is called after the run with its usage, whose Others it sets.
func (w *Watch) Stop(u *Usage) {
	now, ok := busy()
	if !ok || !w.known {
		return
	}
	used := now - w.began - u.CPU
	u.Others = max(0, used.Seconds()/u.Wall.Seconds())
	w.wall += u.Wall
	w.used += used
}

// Others returns how many processors other programs used on average during the
// runs, including the laboratory and the system, or nil.
func (w *Watch) Others() *float64 {
	if w.wall == 0 {
		return nil
	}
	n := max(0, w.used.Seconds()/w.wall.Seconds())
	return &n
}

// Name describes what does not change on a machine: processor and system.
func (m Machine) Name() string {
	words := []string{strconv.Itoa(m.Processors) + " processors", m.GOOS + "/" + m.GOARCH, m.Go}
	if m.CPU != "" {
		words = append([]string{m.CPU}, words...)
	}
	return strings.Join(words, ", ")
}

// String describes the machine and its load in one line.
func (m Machine) String() string {
	words := []string{m.Name()}
	if m.Load != nil {
		words = append(words, fmt.Sprintf("load average %.2f before the run", *m.Load))
	}
	if m.Others != nil {
		words = append(words, fmt.Sprintf("others used %.2f processors during it", *m.Others))
	}
	return strings.Join(words, ", ")
}
