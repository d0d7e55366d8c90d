// Command stint runs many tasks concurrently, on one machine or several, and prints their
// results in order.
//
// Its run command runs a command for every input, and finds how many jobs to run at once:
//
//	find . -name '*.wav' | stint run flac --best {}
//
// Its advise command measures whether a command should run concurrently, and how many at once:
//
//	stint advise --n 50 -- curl -sfo /dev/null http://localhost:8080/{}
//
// Its sum command prints and checks digests as md5sum and sha256sum do, walks
// directories, and reads as many files concurrently as improves throughput:
//
//	stint sum -a md5 photos > MD5SUMS
//	stint sum -c -a md5 MD5SUMS
//
// On a cluster, workers run the commands, or read files on a file system that the machines
// share: serve runs the server, work runs a worker, and status prints their state.
//
//	stint serve
//	stint work --cluster nats://127.0.0.1:4222 --run=flac
//	stint run --cluster nats://127.0.0.1:4222 flac --best {} ::: *.wav
//
// For operators, cancel ends a run, dead handles dead letters, and purge removes what
// killed processes have left. For packagers, man prints manual pages, and completion
// scripts for shells.
//
// Results go to standard output, everything else to standard error. The exit status is 0
// on success; 1 if a job failed, a file could not be read or did not match, the output could
// not be written or a server could not be reached; 2 for a wrong command line; 126 or 127 if
// the command of run cannot be started; 130 after an interrupt; and 141 if the reader has
// closed the pipe. An interrupted server or worker exits with 0.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

func main() {
	// A write to a closed pipe fails, and the run ends in order. The signal is not ignored, as
	// jobs would then ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	process.ReapOrphans()
	os.Exit(execute(context.Background(), os.Args[1:], console.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}
