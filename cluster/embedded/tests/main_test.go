package tests

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain is also the main function of the processes that tests start.
func TestMain(m *testing.M) {
	if text := os.Getenv(processVar); text != "" {
		os.Exit(play(text))
	}
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == flag.Lookup("test.parallel").DefValue {
		flag.Set("test.parallel", "12") // the tests wait for leases more than they compute
	}
	os.Exit(m.Run())
}

// play does what a process is for, and returns its exit status.
func play(text string) int {
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = roles[p.Role](p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, p.Role, "ended:", err)
		return 1
	}
	return 0
}
