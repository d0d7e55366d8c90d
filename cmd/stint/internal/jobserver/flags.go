// Package jobserver speaks the protocol by which GNU make shares a number of jobs with the
// programs that its jobs start. The jobserver is a pipe with a byte for each job that may start
// besides the first one of each program: a token. A program reads one before it starts a further
// job, and writes the same byte when that job has ended. The variable MAKEFLAGS names the pipe, as
// the path of a named pipe or as two descriptors that are inherited.
//
// # Tokens of a killed process
//
// A process that is killed returns no tokens. So a Client has none: a Keeper has them, in another
// process, the watcher, which hears of what the Client wants and returns by a pipe. At each moment
// a token is in the jobserver or in the list of the Keeper:
//
//	the Client is killed                           the token is
//	before it has asked                            in the jobserver
//	after that                                     taken or not: the Keeper returns what it has
//	when the Keeper has taken one, before the job  with the Keeper
//	while the job runs, or has ended               with the Keeper, until the group has been killed
//	when it has told of the end                    with the Keeper or returned: the pipe keeps the message
//
// A Keeper that is killed itself tells nobody: the Client, which knows the tokens by what the Keeper has
// written, goes on with a Keeper in its own process.
//
// What is lost: the tokens of both if both are killed, one that the Keeper has taken or is to return in
// the moment when it is killed, and those of a program which a KILL ends, such as a make in a job. A
// Server makes up for the latter when no job runs.
package jobserver

import (
	"errors"
	"strconv"
	"strings"
)

var (
	// ErrNone is the error of an environment without a jobserver.
	ErrNone = errors.New("there is no jobserver")
	// ErrClosed is the error of descriptors that were not inherited.
	ErrClosed = errors.New("make has not passed its jobserver: the recipe line needs a + at its start")
	// ErrSystem is the error of a system that cannot use a jobserver.
	ErrSystem = errors.New("the jobserver of this make cannot be used on this system")
)

// cut splits MAKEFLAGS into options of one letter, which have no dash, other options, and
// variables with the " -- " before them.
func cut(makeflags string) (letters, options, variables string) {
	options = makeflags
	if i := strings.Index(" "+options, " -- "); i >= 0 {
		options, variables = options[:max(0, i-1)], " "+makeflags[i:]
	}
	if first, rest, _ := strings.Cut(options, " "); !strings.ContainsAny(first, "-=") {
		letters, options = first, rest
	}
	return letters, options, variables
}

// auth returns how MAKEFLAGS names the jobserver: the last word counts.
func auth(makeflags string) (how string, ok bool) {
	_, options, _ := cut(makeflags)
	for word := range strings.FieldsSeq(options) {
		for _, name := range []string{"--jobserver-auth=", "--jobserver-fds="} {
			if value, is := strings.CutPrefix(word, name); is {
				how, ok = value, true
			}
		}
	}
	return how, ok
}

// DryRun reports whether make only prints what it would do: "make -n" still runs the lines that
// begin with a +.
func DryRun(makeflags string) bool {
	letters, _, _ := cut(makeflags)
	return strings.Contains(letters, "n")
}

// flags returns MAKEFLAGS with this jobserver, of n jobs at first, instead of another one and of a
// number of jobs.
func flags(makeflags string, n int, how string) string {
	letters, options, variables := cut(makeflags)
	kept := letters
	for i, words := 0, strings.Fields(options); i < len(words); i++ {
		switch w := words[i]; {
		case !strings.HasPrefix(w, "-j") && !strings.HasPrefix(w, "--jobs"):
			kept += " " + w
		case (w == "-j" || w == "--jobs") && i+1 < len(words) && strings.Trim(words[i+1], "0123456789") == "":
			i++
		}
	}
	return kept + " -j" + strconv.Itoa(n) + " --jobserver-auth=" + how + variables
}
