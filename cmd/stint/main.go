// Command stint does work on many files at once and prints the results in the
// order in which they were asked for.
//
// Its one verb is sum, which prints and checks digests as md5sum and sha256sum
// do, walks directories, and reads as many files at a time as make it faster:
//
//	stint sum -a md5 photos > MD5SUMS
//	stint sum -c -a md5 MD5SUMS
//
// Its help says the rest. For those who package it, stint man sum writes the manual
// page, and stint completion the completions of a shell.
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 when all went well, 1 when a file could not be read or did not
// match or the output could not be written, 2 for a wrong command line, and
// 130 after an interrupt.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
