package measure

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Machine is where measurements were made, and how busy it was.
type Machine struct {
	GOOS       string   `json:"goos"`
	GOARCH     string   `json:"goarch"`
	CPU        string   `json:"cpu,omitempty"`
	Go         string   `json:"go"`
	Processors int      `json:"processors"`       // that this program may use
	Timer      int64    `json:"timer,omitempty"`  // the smallest step of the clock, in ns; 0: not known
	Load       *float64 `json:"load,omitempty"`   // of the last minute, before the run; nil: not known
	Others     *float64 `json:"others,omitempty"` // processors that others used during the runs; nil: not known
}

// Here describes this machine at this moment, without Others.
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

// step is the smallest step of the clock that samples are timed with: of a
// thousand, or of those in 10 ms where it is a coarse one, but of one at least.
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

// cpuModel is the name of the processor where the system has it in a file.
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

// busy is the processor time that all processors have spent on work since the
// machine started, in units of 10 ms, or ok is false.
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

// A Watch sees how much of the machine others use while runs are measured.
type Watch struct {
	known      bool
	began      time.Duration // busy at the start of the run that is watched
	wall, used time.Duration // sums over the runs: of time, and of what was not theirs
}

// Start is called before each run that is measured.
func (w *Watch) Start() { w.began, w.known = busy() }

// Stop is called after the run, with its cost, to which it adds Others.
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

// Others is how many processors all other programs used on average during the
// runs, the laboratory and the system's own work included, or nil.
func (w *Watch) Others() *float64 {
	if w.wall == 0 {
		return nil
	}
	n := max(0, w.used.Seconds()/w.wall.Seconds())
	return &n
}

// Name is what stays the same on a machine: the processor and the system.
func (m Machine) Name() string {
	words := []string{strconv.Itoa(m.Processors) + " processors", m.GOOS + "/" + m.GOARCH, m.Go}
	if m.CPU != "" {
		words = append([]string{m.CPU}, words...)
	}
	return strings.Join(words, ", ")
}

// String is one line: the processor, the system, the load.
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
