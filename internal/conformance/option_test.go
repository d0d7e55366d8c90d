package conformance_test

import (
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

// within is Auto(min, max) for the limit that a call, a group or a pool has when no
// Limiter is given.
func within(min, max int) stint.Option {
	return option.Func(func(o *option.Options) { o.Min, o.Max = min, max })
}
