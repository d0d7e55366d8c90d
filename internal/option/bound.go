package option

import (
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// A Bound makes the type that embeds it the option Limiter. It has neither exported
// fields nor methods, since users of that type would see them.
type Bound struct{ limiter *limit.Limiter }

// NewBound returns a Bound by l.
func NewBound(l *limit.Limiter) Bound { return Bound{l} }

// LimiterOf returns the limiter of b, or nil if b was not made by NewBound.
func LimiterOf(b *Bound) *limit.Limiter { return b.limiter }

func (b *Bound) apply(o *Options) {
	o.Given |= Limiter
	o.Limiter = b.limiter
}

// Workers makes the type that embeds it the option Pool, as Bound does for Limiter.
type Workers struct {
	engine *work.Engine
}

// NewWorkers returns the Workers of e.
func NewWorkers(e *work.Engine) Workers { return Workers{e} }

// EngineOf returns the engine of w, or nil if w was not made by NewWorkers.
func EngineOf(w *Workers) *work.Engine { return w.engine }

func (w *Workers) apply(o *Options) {
	o.Given |= Pool
	o.Engine = w.engine
}
