package auto

// A Phase is what a Controller is about.
type Phase int

const (
	Idle    Phase = iota // the limit was never reached: there is nothing to find
	Rising               // it rises as tasks end
	Holding              // it stays
	Probing              // another one is tried
	Fixed                // it was set by hand
)

// String returns the name of p, which callers see in LimiterStats.
func (p Phase) String() string {
	return [...]string{Idle: "idle", Rising: "rising", Holding: "holding", Probing: "probing", Fixed: "fixed"}[p]
}

// A State is what a Controller is about, and how it came to it.
type State struct {
	Phase      Phase
	Throughput float64 // tasks a second, in the last window; 0 if none has ended
	Changes    []Change
}

// State returns the state of c at one instant.
func (c *Controller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finder == nil {
		return State{}
	}
	s := State{Phase: c.finder.phase, Throughput: c.finder.latest, Changes: c.finder.changes.all()}
	if c.fixed.Load() {
		s.Phase = Fixed
	}
	return s
}
