package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// told wants that a command line has that exit status, and prints and reports what has
// that in it; "" is nothing.
func told(t *testing.T, want int, stdout, stderr string, args ...string) {
	t.Helper()
	out, errs, code := runStint(t, "", args...)
	if code != want || !strings.Contains(out, stdout) || !strings.Contains(errs, stderr) || stdout == "" && out != "" || stderr == "" && errs != "" {
		t.Errorf("%q: exit status %d, output %q, messages %q; want %d, %q, %q", args, code, out, errs, want, stdout, stderr)
	}
}

// open runs a server, and returns its URL, with which others than our commands get in too.
func open(t *testing.T) string {
	t.Helper()
	url, _ := serve(t, "--token", "secret")
	return strings.Replace(url, "://", "://secret@", 1)
}

// put publishes a message to the server at url.
func put(t *testing.T, url, subject, data string) {
	t.Helper()
	nc, err := nats.Connect(url, tokenOf(url))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Request(subject, []byte(data), lease*10); err != nil {
		t.Fatal(err)
	}
}

// tokenOf lets a client in that is not a command at the server at that URL.
func tokenOf(url string) nats.Option {
	host, port, _ := (&connection{url: url}).local()
	token, _ := localToken(host, port)
	return nats.Token(token)
}

// TestCancel ends a command that waits for workers, by the name that status shows.
func TestCancel(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "x")
	url, _ := serve(t)
	sum := begin(t, true, "sum", "a", "--cluster", url)
	until(t, url, "there is a run that waits", func(s *cluster.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Waiting == 1 })
	run := state(t, url).Runs[0].Run
	told(t, 1, "", `stint: `+url+`: cluster: cancel "no\tname": `, "cancel", "no\tname", run, "--cluster", url)
	<-sum.done
	if want := run + " was cancelled elsewhere"; sum.status != 1 || !strings.Contains(sum.errs.String(), want) {
		t.Errorf("sum has ended with status %d, messages %q, want 1 and %q", sum.status, &sum.errs, want)
	}
	if left := state(t, url); len(left.Runs) > 0 || left.Tasks[0].Queued > 0 {
		t.Errorf("left on the server: %+v", left)
	}
	told(t, 1, "", "the server does not know the run", "cancel", run, "--cluster", url)
}

// TestDead lists what was put aside and drops it, and says why a task is not put back.
func TestDead(t *testing.T) {
	url := open(t)
	told(t, 0, "nothing was put aside\n", "", "dead", "--cluster", url)
	told(t, 0, "", "", "dead", "list", "--json", "--cluster", url)
	for i := range 3 {
		a := cluster.Aside{ID: fmt.Sprint("run/", i), Task: "t\x1b[2J", Reason: "fell\nover", Input: []byte(`"a"`)}
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		put(t, url, fmt.Sprint("stint.aside.run.", i), string(data))
	}
	told(t, 0, `run/1      "t\x1b[2J"  `, "", "dead", "list", "--cluster", url)
	told(t, 0, `  "fell\nover"`+"\n", "", "dead", "--cluster", url)
	told(t, 0, `{"id":"run/1","task":"t\u001b[2J","reason":"fell\nover","time":"0001-01-01T00:00:00Z","input":"ImEi"}`+"\n", "", "dead", "--json", "--cluster", url)
	told(t, 1, "", `cluster: retry "run/1": cluster: the server does not know the run: it is over: submit the item again`, "dead", "retry", "run/1", "--cluster", url)
	told(t, 1, "", `cluster: drop "run/7": nothing with that ID was put aside`, "dead", "drop", "run/7", "run/1", "--cluster", url)
	out, _, _ := runStint(t, "", "dead", "--json", "--cluster", url)
	if n := strings.Count(out, "\n"); n != 2 {
		t.Errorf("%d are left, want 2: %s", n, out)
	}
	told(t, 0, "", "", "dead", "drop", "--all", "--cluster", url)
	told(t, 0, "nothing was put aside\n", "", "dead", "--cluster", url)
	told(t, 0, "", "", "dead", "drop", "--all", "--cluster", url)
}

// TestPurge removes what a run has left that is over.
func TestPurge(t *testing.T) {
	t.Parallel() // it waits for a quarter of a minute
	url := open(t)
	told(t, 0, "removed 0 messages\n", "", "purge", "--cluster", url)
	for i := range 3 {
		put(t, url, fmt.Sprint("stint.result.run.", i), "")
	}
	told(t, 0, "removed 3 messages\n", "", "purge", "--cluster", url)
	told(t, 0, "removed 0 messages\n", "", "purge", "--cluster", url)
}
