package auto

import "time"

// A Phase is the state of a search.
type Phase int

const (
	Idle      Phase = iota // no task has waited yet
	SlowStart              // the limit rises while throughput rises
	Holding                // the limit stays
	Probing                // another limit is tried
	Fixed                  // the limit was set by hand
)

// String returns the name of p in LimiterStats.
func (p Phase) String() string {
	return [...]string{Idle: "idle", SlowStart: "slow start", Holding: "holding", Probing: "probing", Fixed: "fixed"}[p]
}

// A State is the state of a Controller and the changes that led to it.
type State struct {
	Phase      Phase
	Throughput float64 // tasks a second, in the last window; 0 if unknown
	Backoffs   uint64  // how often overload or short memory lowered the limit
	Changes    []Change
}

// A Change is a change of the limit.
type Change struct {
	Time       time.Time
	Limit      int     // from then on
	Throughput float64 // tasks a second, measured before the change; 0 if unknown
	Reason     string
}
