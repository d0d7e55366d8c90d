package embedded

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// A logger receives the reports of one server. It keeps the first reason not to start, which
// the server reports nowhere else, tells watch of a failed write, and logs warnings and errors.
type logger struct {
	log     *slog.Logger
	failure chan string // the first failed write

	mu    sync.Mutex
	first string // fatal report
}

func newLogger(log *slog.Logger) *logger {
	return &logger{log: log, failure: make(chan string, 1)}
}

// Noticef, Debugf and Tracef drop routine reports. A dropped client is worth a warning.
func (l *logger) Noticef(format string, v ...any) {
	if strings.Contains(format, "Slow Consumer") {
		l.Warnf(format, v...)
	}
}

func (l *logger) Debugf(string, ...any) {}

func (l *logger) Tracef(string, ...any) {}

// Warnf logs a warning, except for two that need no action: that Users has passwords, and that
// the server searches its files after a kill.
func (l *logger) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Plaintext passwords") && !strings.Contains(format, "TTL state is outdated") {
		l.log.Warn("embedded: " + fmt.Sprintf(format, v...))
	}
}

// Errorf logs an error.
func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.log.Error("embedded: " + text)
	if isFailedWrite(text) {
		select {
		case l.failure <- text:
		default:
		}
	}
}

// isFailedWrite reports whether an error says that the server refuses all further writes.
// Text of clients comes only after their address.
func isFailedWrite(text string) bool {
	ours := strings.HasPrefix(text, "Filestore [") || strings.HasPrefix(text, "JetStream ")
	return ours && strings.Contains(strings.ToLower(text), "critical write error")
}

// Fatalf keeps the reason, and does not end the process as the logger of the server does.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	if l.first == "" {
		l.first = fmt.Sprintf(format, v...)
	}
	l.mu.Unlock()
	l.Errorf(format, v...)
}

// fatal returns the first reason not to start, or "".
func (l *logger) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}
