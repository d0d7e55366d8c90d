//go:build !linux

package machine

// Sampler reads what processes use. Here it cannot. It is for one goroutine.
type Sampler struct{}

// Sample returns what a process and its descendants use. Here it is never ok.
func (s *Sampler) Sample(pid int) (u Usage, ok bool) { return Usage{}, false }
