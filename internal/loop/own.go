package loop

// initOwn makes the loop's own limiter. Calls that its tasks make without a limit use it too,
// if it is adaptive.
func (l *Loop) initOwn() {
	both := new(struct {
		helping
		ownLimit
	})
	l.helping, both.helping.ownLimit = &both.helping, &both.ownLimit
	l.lim = &l.own
	if l.Auto.Max > 0 {
		l.lim.InitAdaptive(l.Auto)
		l.lim.Inherit()
	} else {
		l.lim.Init(l.Limit)
	}
}

// inherited reports whether lim is the loop's own, and calls without a limit use it too.
func (l *Loop) inherited() bool { return l.Auto.Max > 0 && l.helping != nil }
