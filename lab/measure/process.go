// Package measure takes samples: of work in this process with a Meter, of other
// processes with a Launcher. Machine and Watch
// describe where, and how busy it was.
package measure

import "time"

// A Usage is the cost of one run of a process and its descendants.
type Usage struct {
	Wall    time.Duration `json:"wall_ns"`
	CPU     time.Duration `json:"cpu_ns"`             // user and system
	PeakRSS int64         `json:"peak_rss,omitempty"` // bytes, of the largest process; 0: not known
	Floor   int64         `json:"floor,omitempty"`    // lower bound of what PeakRSS can show
}

// isBound reports whether PeakRSS is only an upper bound, because the process
// was smaller than its launcher.
func (u Usage) isBound() bool {
	const slack = 256 << 10 // the kernel counts pages in batches
	return u.PeakRSS > 0 && u.PeakRSS <= u.Floor+slack
}

// Sample converts the usage of a process that read the given number of bytes.
func (u Usage) Sample(bytes int64) Sample {
	s := Sample{
		Time: float64(u.Wall.Nanoseconds()),
		CPU:  float64(u.CPU.Nanoseconds()),
		Rate: float64(bytes) / 1e6 / u.Wall.Seconds(),
	}
	switch {
	case u.PeakRSS == 0:
	case u.isBound():
		s[PeakRSSBound] = float64(u.PeakRSS)
	default:
		s[PeakRSS] = float64(u.PeakRSS)
	}
	return s
}

// A Process is a command to run in Dir, with Env added to the environment.
type Process struct {
	Args  []string
	Dir   string
	Env   []string
	Input string // file that is its standard input; "": none
}
