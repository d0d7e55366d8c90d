package child

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

const variable = "STINT_LAB_CHILD_TEST"

// The role of a child is what it says first, and its error.
func TestMain(m *testing.M) {
	status, ok := Main(variable, func(ctx context.Context, role string, say func(string)) error {
		if role != "never ready" {
			say(role)
			<-ctx.Done()
		}
		if role != "good" {
			return errors.New(role)
		}
		return nil
	})
	if !ok {
		status = m.Run()
	}
	os.Exit(status)
}

// A child says that it is ready, and ends when its input does, or is killed at the end of a context. Its error is told,
// also if it never was ready.
func TestStart(t *testing.T) {
	for role, want := range map[string]string{"good": "", "bad end": "bad end", "never ready": "never ready", "killed": ":"} {
		ctx, cancel := context.WithCancel(t.Context())
		cmd, err := Again(ctx, variable, role)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Start(cmd)
		if err == nil && role == "killed" {
			cancel()
			<-p.Ended
		}
		if err == nil && p.Said == role {
			err = p.End()
		}
		if cancel(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", role, err, want)
		}
	}
}
