// Package measure takes samples: of work in this process with a Meter, of other
// processes with a Launcher, which says what they cost. It runs models in turn, in
// Rounds, and says what the machine was and did meanwhile.
package measure

import "time"

// A Usage is what one run of a process cost, its descendants included.
type Usage struct {
	Wall    time.Duration `json:"wall_ns"`
	CPU     time.Duration `json:"cpu_ns"`             // user and system
	PeakRSS int64         `json:"peak_rss,omitempty"` // bytes, of the largest process; 0: not known
	Floor   int64         `json:"floor,omitempty"`    // what PeakRSS cannot be below
	Others  float64       `json:"others,omitempty"`   // processors that other programs used meanwhile, see Watch
}

// hidden reports whether the peak is only known to be at most PeakRSS: the
// process was smaller than what started it.
func (u Usage) hidden() bool {
	const slack = 256 << 10 // the kernel counts pages in batches
	return u.PeakRSS > 0 && u.PeakRSS <= u.Floor+slack
}

// A Process is a command to run, in Dir, with Env added to the environment.
type Process struct {
	Args []string
	Dir  string
	Env  []string
}
