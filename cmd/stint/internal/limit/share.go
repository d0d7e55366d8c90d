package limit

// A Share is of a number of jobs that a jobserver gives out to several programs.
type Share struct {
	Running func() int // jobs of this process that have had a token, or needed none, and have not ended
	InUse   func() int // tokens of all programs, whose number follows this limit; nil: that of another process
}

// Share makes the limit one of all programs, or bounds it by what others leave. Then at most one job
// that has not begun holds a permit and waits for a token.
func (l *Limit) Share(s Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.share = s
	l.setBound(l.bound, l.why)
}

// Shared tells that Running has changed.
func (l *Limit) Shared() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setBound(l.bound, l.why)
}

// Tokens returns how many tokens there should be.
func (l *Limit) Tokens() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tokens()
}

// tokens, uses and withShare are called with mu held.
func (l *Limit) tokens() int {
	if l.jobs == paused {
		return 0
	}
	return l.bound
}

// uses returns how many jobs run: tokens, if there are any, since a job may be a make with jobs of
// its own.
func (l *Limit) uses() int {
	if l.share.InUse == nil {
		return len(l.running)
	}
	return max(l.share.InUse(), len(l.running))
}

// withShare returns bounds of the limiter that leave no more than one permit to a job without a
// token. There is nothing to search for when jobs are trees of jobs.
func (l *Limit) withShare(bounds [2]int) [2]int {
	if l.share.InUse != nil {
		bounds[0] = bounds[1]
	}
	if l.share.Running != nil {
		most := l.share.Running() + 1
		l.shared = max(l.shared, most-1)
		bounds = [2]int{min(bounds[0], most), min(bounds[1], most)}
	}
	return bounds
}
