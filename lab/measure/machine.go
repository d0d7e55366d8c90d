package measure

import (
	"fmt"
	"os"
	"runtime"
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
	Others     *float64 `json:"others,omitempty"` // processors used by other programs during the runs; nil: not known
}

// Here describes this machine, without Others.
func Here() Machine {
	return Machine{
		GOOS:       runtime.GOOS,
		GOARCH:     runtime.GOARCH,
		CPU:        cpuModel(),
		Go:         runtime.Version(),
		Processors: runtime.GOMAXPROCS(0),
	}
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

// busy returns the time that all processors have worked since the machine
// started, in units of 10 ms.
func busy() (d time.Duration, ok bool) {
	text, _ := os.ReadFile("/proc/stat")
	var user, nice, system, idle, wait, irq, soft, steal int64
	n, _ := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
	return time.Duration(user+nice+system+irq+soft+steal) * 10 * time.Millisecond, n == 8
}

// A Watch measures how much of the machine other programs use during runs.
type Watch struct {
	known      bool
	began      time.Duration // busy at the start of the current run
	wall, used time.Duration // sums over the runs: time, and time used by others
}

// Start is called before each measured run.
func (w *Watch) Start() { w.began, w.known = busy() }

// Stop is called after the run with its usage.
func (w *Watch) Stop(u *Usage) {
	if now, ok := busy(); ok && w.known {
		w.wall += u.Wall
		w.used += now - w.began - u.CPU
	}
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
	return strings.TrimPrefix(fmt.Sprintf("%s, %d processors, %s/%s, %s", m.CPU, m.Processors, m.GOOS, m.GOARCH, m.Go), ", ")
}

// String describes the machine, and how busy it was, in one line.
func (m Machine) String() string {
	if m.Others == nil {
		return m.Name()
	}
	return fmt.Sprintf("%s, others used %.2f processors during the run", m.Name(), *m.Others)
}
