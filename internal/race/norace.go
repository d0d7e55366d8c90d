//go:build !race

package race

// Enabled reports whether the program was built with -race.
const Enabled = false

// Sharp is a variable in programs built with -race.
const Sharp = false

// Ends are nothing in programs built without -race.
type Ends struct{}

// Release is called by a task that has ended.
func (*Ends) Release() {}

// Acquire is called by who has waited for tasks.
func (*Ends) Acquire() {}

// Keys are nothing in programs built without -race.
type Keys struct{}

// Open makes k ready.
func (*Keys) Open() {}

// Release is called by a task of the key that has ended.
func (*Keys) Release(any) {}

// Acquire is called by a task of the key before it begins, and by who takes its result.
func (*Keys) Acquire(any) {}

// Disable hides what follows from the detector.
func Disable() {}

// Enable ends Disable.
func Enable() {}

// Apart is only for programs built with -race.
func Apart(func() bool) (result, returned bool) { panic("race: not enabled") }

// Unseen returns what is at p.
func Unseen[T any](p *T) T { return *p }

// Aside is only for programs built with -race.
func Aside[T any](func() T) T { panic("race: not enabled") }

// An Order is nothing in programs built without -race.
type Order struct{}

// A Ticket is nothing in programs built without -race.
type Ticket struct{}

// Take counts a task, which has its permit or is in line for it, under a limit.
func (*Order) Take(limit int) (t Ticket) { return t }

// Start is called by the task, before it starts.
func (*Order) Start(Ticket) {}

// Acquire is called by a goroutine that has found room for a task, or looked how many have ended.
func (*Order) Acquire(free int) {}

// End is called when a task has ended, before it returns its permit.
func (*Order) End(Ticket) {}
