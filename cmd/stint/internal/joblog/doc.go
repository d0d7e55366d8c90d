// Package joblog reads and writes the log of the jobs of a run, in the format of GNU
// parallel's --joblog: a header, then a line of nine columns a job, separated by tabs.
// Each program reads what the other wrote.
package joblog
