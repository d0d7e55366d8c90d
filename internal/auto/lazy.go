package auto

import "sync/atomic"

// A Lazy makes the Controller of a limiter when it is first needed: few calls need one. Call
// Init before use, and Close.
type Lazy struct {
	config     Config
	limiter    Limiter
	controller atomic.Pointer[Controller] // nil until it is needed; &never if it was not before Close
}

var never Controller // is not used

// Init prepares z for l, whose limit is config.Start().
func (z *Lazy) Init(config Config, l Limiter) { z.config, z.limiter = config, l }

// Controller returns the controller, which the first call makes. It returns nil after a Close
// before which there was none.
func (z *Lazy) Controller() *Controller {
	if z.controller.Load() == nil {
		c := new(Controller)
		c.Init(z.config, z.limiter)
		z.controller.CompareAndSwap(nil, c)
	}
	return z.Made()
}

// Made returns the controller, or nil if there is none.
func (z *Lazy) Made() *Controller {
	if c := z.controller.Load(); c != &never {
		return c
	}
	return nil
}

// NotifyWaiting is called with the limiter's lock held.
func (z *Lazy) NotifyWaiting() {
	if c := z.Controller(); c != nil {
		c.NotifyWaiting()
	}
}

// Active reports whether finished tasks count.
func (z *Lazy) Active() bool {
	c := z.controller.Load()
	return c != nil && c.Active()
}

// NotifyIdle is called, while z is Active, with the limiter's lock held.
func (z *Lazy) NotifyIdle() { z.controller.Load().NotifyIdle() }

// Close ends the search, as Controller.Close does.
func (z *Lazy) Close() {
	if !z.controller.CompareAndSwap(nil, &never) {
		z.controller.Load().Close()
	}
}
