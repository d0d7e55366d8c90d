package stint

// Within is Auto(min, max) for the limit that a call, a group or a pool has when no
// Limiter is given.
func Within(min, max int) Option {
	return option(func(o *options) { o.min, o.max = min, max })
}
