package conformance_test

import (
	"os"
	"testing"
)

// Many tests make panics wait for long, and these are written to standard error: in a run that
// fails, thousands of lines would hide the failure.
func TestMain(m *testing.M) {
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil && !isChild() {
		os.Stderr = null
	}
	os.Exit(m.Run())
}
