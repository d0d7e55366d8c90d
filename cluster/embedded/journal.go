package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// A journal hears what one server reports. It keeps the first reason not to start, which
// the server tells nobody else, raises the alarm when a write has failed, and sends
// warnings and errors to the log.
type journal struct {
	log   *slog.Logger // nil: nowhere
	alarm chan string  // has the first write that has failed

	mu    sync.Mutex
	first string // what was fatal first
}

func newJournal(log *slog.Logger) *journal {
	return &journal{log: log, alarm: make(chan string, 1)}
}

// Noticef, Debugf and Tracef are what the server does all the time. But it also notes
// there that it has dropped a client which does not read what it is sent.
func (j *journal) Noticef(format string, v ...any) {
	if strings.Contains(format, "Slow Consumer") {
		j.Warnf(format, v...)
	}
}

// Debugf reports nothing.
func (j *journal) Debugf(format string, v ...any) {}

// Tracef reports nothing.
func (j *journal) Tracef(format string, v ...any) {}

// Warnf reports what the server can go on with, but for two warnings that nobody can heed:
// users have passwords here, and after a kill the server looks through its files.
func (j *journal) Warnf(format string, v ...any) {
	ordinary := strings.HasPrefix(format, "Plaintext passwords") || strings.Contains(format, "TTL state is outdated")
	if j.log != nil && !ordinary {
		j.log.Warn("embedded: " + fmt.Sprintf(format, v...))
	}
}

// Errorf reports what has failed in the server.
func (j *journal) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if j.log != nil {
		j.log.Error("embedded: " + text)
	}
	if failedWrite(text) {
		select {
		case j.alarm <- text:
		default:
		}
	}
}

// failedWrite reports whether a report of the server says that it refuses all further
// writes. What clients can put into a report comes after their address.
func failedWrite(text string) bool {
	ours := strings.HasPrefix(text, "Filestore [") || strings.HasPrefix(text, "JetStream ")
	return ours && strings.Contains(strings.ToLower(text), "critical write error")
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
