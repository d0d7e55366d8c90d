package stint

import "github.com/stint-go/stint/internal/option"

// Within is Auto(min, max) for the limit that a call, a group or a pool has when no
// Limiter is given.
func Within(min, max int) Option {
	return option.Func(func(o *option.Options) { o.Min, o.Max = min, max })
}
