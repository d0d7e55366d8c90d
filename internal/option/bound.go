package option

import (
	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// A Bound makes the type that embeds it the option Limiter. It has neither exported
// fields nor methods: users of that type would have them too.
type Bound struct {
	limiter *limit.Limiter
	tuner   *auto.Controller
}

// NewBound returns a Bound by l, which t changes by itself; a nil t is none.
func NewBound(l *limit.Limiter, t *auto.Controller) Bound { return Bound{l, t} }

// LimiterOf returns what b was made of; nil if it was not made by NewBound.
func LimiterOf(b *Bound) *limit.Limiter { return b.limiter }

// TunerOf returns what changes the limiter of b by itself, or nil.
func TunerOf(b *Bound) *auto.Controller { return b.tuner }

func (b *Bound) apply(o *Options) {
	if b.limiter == nil {
		o.wrong = "Limiter was not made by Limit or Auto"
	}
	o.Given |= Limiter
	o.Limiter, o.Tuner = b.limiter, b.tuner
}

// Workers makes the type that embeds it the option Pool. It has no exported field and
// no method, as Bound.
type Workers struct {
	engine *work.Engine
}

// NewWorkers returns the Workers of e.
func NewWorkers(e *work.Engine) Workers { return Workers{e} }

// EngineOf returns the engine of w; nil if it was not made by NewWorkers.
func EngineOf(w *Workers) *work.Engine { return w.engine }

func (w *Workers) apply(o *Options) {
	if w.engine == nil {
		o.wrong = "Pool was not made by NewPool"
	}
	o.Given |= Pool
	o.Engine = w.engine
}
