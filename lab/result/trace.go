package result

// A Trace shows how a model changed its limit, in one run of a case.
type Trace struct {
	Case   string  `json:"case"`
	Model  string  `json:"model"`
	Points []Point `json:"points"` // in order of time
}

// A Point is a change of a limit.
type Point struct {
	At         float64 `json:"at"`                   // seconds from the start
	Limit      int     `json:"limit"`                // from then on
	Throughput float64 `json:"throughput,omitempty"` // operations per second before; 0: not measured
}
