// Command stint does work on many files at once, on one machine or several, and
// prints the results in the order in which they were asked for.
//
// Its verb sum prints and checks digests as md5sum and sha256sum
// do, walks directories, and reads as many files at a time as make it faster:
//
//	stint sum -a md5 photos > MD5SUMS
//	stint sum -c -a md5 MD5SUMS
//
// Three verbs are for work on several machines, which share a file system: serve
// is the server that they meet at, work is a worker, and status prints what all of
// them do. The workers then read the files of sum:
//
//	stint serve
//	stint work --cluster nats://127.0.0.1:4222
//	stint sum --cluster nats://127.0.0.1:4222 photos
//
// Three more are for who looks after them: cancel ends a run, dead shows what was put
// aside, and purge removes what killed processes have left.
//
// The help of each says the rest. For those who package it, stint man sum writes the
// manual page of sum, and stint completion the completions of a shell.
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 when all went well, 1 when a file could not be read or did not
// match, the output could not be written or a server not be reached, 2 for a wrong
// command line, 130 after an interrupt, and 141 when nobody reads the results any
// more. A server and a worker that were interrupted have ended well: theirs is 0.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // the write fails then, and the run ends in order
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
