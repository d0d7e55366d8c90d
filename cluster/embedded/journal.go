package embedded

import (
	"fmt"
	"log/slog"
	"sync"
)

// A journal hears what the server reports. It keeps the first reason not to start,
// which the server tells nobody else, and sends warnings and errors to the log.
type journal struct {
	log *slog.Logger // nil: nowhere

	mu    sync.Mutex
	first string // what was fatal first
}

// Noticef, Debugf and Tracef are what the server does all the time.
func (j *journal) Noticef(format string, v ...any) {}

// Debugf reports nothing.
func (j *journal) Debugf(format string, v ...any) {}

// Tracef reports nothing.
func (j *journal) Tracef(format string, v ...any) {}

// Warnf reports what the server can go on with.
func (j *journal) Warnf(format string, v ...any) {
	if j.log != nil {
		j.log.Warn("embedded: " + fmt.Sprintf(format, v...))
	}
}

// Errorf reports what has failed in the server.
func (j *journal) Errorf(format string, v ...any) {
	if j.log != nil {
		j.log.Error("embedded: " + fmt.Sprintf(format, v...))
	}
}

// Fatalf keeps the reason, and does not end the process as the logger of the server does.
func (j *journal) Fatalf(format string, v ...any) {
	j.mu.Lock()
	if j.first == "" {
		j.first = fmt.Sprintf(format, v...)
	}
	j.mu.Unlock()
	j.Errorf(format, v...)
}

// fatal returns the first reason not to start, or "".
func (j *journal) fatal() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.first
}

// unless reports err, unless it is nil.
func (j *journal) unless(err error) {
	if err != nil {
		j.Errorf("%v", err)
	}
}
