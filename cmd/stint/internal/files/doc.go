// Package files finds, opens and replaces the files that a command reads and writes:
// it walks directories, waits for free file descriptors, confines reads to one
// directory, and replaces an output file in one step.
package files
