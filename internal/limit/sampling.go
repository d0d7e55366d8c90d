package limit

import "github.com/stint-go/stint/internal/auto"

// A Sampling counts the finished tasks of a worker for the controller of its limiter, while
// that counts tasks.
type Sampling struct{ sampler *auto.Sampler } // nil until it is needed

// Start marks the start of the worker's first task.
func (s *Sampling) Start(l *Limiter) {
	if c := l.ActiveController(); c != nil && s.sampler == nil {
		s.sampler = new(auto.Sampler)
		s.sampler.Start(c)
	}
}

// Done counts n finished tasks, some of which have failed.
func (s *Sampling) Done(l *Limiter, n, failed int) {
	c := l.ActiveController()
	if c == nil {
		return
	}
	if s.sampler == nil {
		s.sampler = new(auto.Sampler)
	}
	s.sampler.Done(c, n, failed)
}

// Rest marks the end of a pause: see auto.Sampler.
func (s *Sampling) Rest() {
	if s.sampler != nil {
		s.sampler.Rest()
	}
}
