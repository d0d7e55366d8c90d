package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

const variable = "STINT_LAB_CHILD_TEST"

func TestMain(m *testing.M) {
	if status, ok := Main(variable, play); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

type role struct{ Fails, Early bool }

func play(ctx context.Context, r role, say func(string)) error {
	if r.Early {
		return errors.New("not ready")
	}
	say("ready")
	<-ctx.Done()
	if r.Fails {
		return errors.New("late")
	}
	fmt.Print("over")
	return nil
}

func TestChild(t *testing.T) {
	for _, c := range []struct {
		role
		start, end string // parts of the errors
	}{
		{role{}, "", ""},
		{role{Early: true}, "not ready", ""},
		{role{Fails: true}, "", "late"},
	} {
		cmd, err := Again(t.Context(), variable, c.role)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Start(cmd)
		if (err != nil) != (c.start != "") || err != nil && !strings.Contains(err.Error(), c.start) {
			t.Errorf("%+v: start: got %v", c.role, err)
		}
		if p == nil {
			continue
		}
		err = p.End()
		if (err != nil) != (c.end != "") || err != nil && !strings.Contains(err.Error(), c.end) {
			t.Errorf("%+v: end: got %v", c.role, err)
		}
		if p.Said != "ready" || err == nil && string(p.Rest) != "over" {
			t.Errorf("%+v: said %q and %q", c.role, p.Said, p.Rest)
		}
	}
}

// The end of the context kills a child.
func TestKill(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd, err := Again(ctx, variable, role{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if <-p.Ended; p.Err == nil {
		t.Error("it was not killed")
	}
}
