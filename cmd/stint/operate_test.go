package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// TestDead lists, drops and fails to retry dead letters.
func TestDead(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, "--token", "secret")
	url = withSecret(url, "secret")
	wantRun(t, 0, "no dead letters\n", "", "dead", "--cluster", url)
	wantRun(t, 0, "", "", "dead", "list", "--json", "--cluster", url)
	for i := range 3 {
		a := cluster.DeadLetter{ID: fmt.Sprint("run/", i), Task: "t\x1b[2J", Reason: "fell\nover", Input: []byte(`"a"`)}
		data, err := json.Marshal(a)
		must(t, err)
		put(t, url, fmt.Sprint("stint.dead.run.", i), string(data))
	}
	wantRun(t, 0, `run/1        t\033[2J  `, "", "dead", "list", "--cluster", url)
	wantRun(t, 0, `  fell\nover`+"\n", "", "dead", "--cluster", url)
	wantRun(t, 0, `{"id":"run/1","task":"t\u001b[2J","reason":"fell\nover","time":"0001-01-01T00:00:00Z","input":"ImEi"}`+"\n", "", "dead", "--json", "--cluster", url)
	wantRun(t, 1, "", `cluster: retry "run/1": cluster: the server does not know the run: it is over: submit the item again`, "dead", "retry", "run/1", "--cluster", url)
	wantRun(t, 1, "", `cluster: drop "run/7": there is no dead letter with that ID`, "dead", "drop", "run/7", "run/1", "--cluster", url)
	out, _, _ := runStint(t, "", "dead", "--json", "--cluster", url)
	if n := strings.Count(out, "\n"); n != 2 {
		t.Errorf("%d are left, want 2: %s", n, out)
	}
	wantRun(t, 0, "", "", "dead", "drop", "--all", "--cluster", url)
	wantRun(t, 0, "no dead letters\n", "", "dead", "--cluster", url)
	wantRun(t, 0, "", "", "dead", "drop", "--all", "--cluster", url)
}

// TestPurge removes the results of a run that is over.
func TestPurge(t *testing.T) {
	t.Parallel() // it waits for a quarter of a minute
	url, _ := serve(t, "--token", "secret")
	url = withSecret(url, "secret")
	wantRun(t, 0, "removed 0 messages\n", "", "purge", "--cluster", url)
	for i := range 3 {
		put(t, url, fmt.Sprint("stint.result.run.", i), "")
	}
	wantRun(t, 0, "removed 3 messages\n", "", "purge", "--cluster", url)
	wantRun(t, 0, "removed 0 messages\n", "", "purge", "--cluster", url)
}
