//go:build unix && !linux

package main

// markedProcesses returns none: only Linux tells the environment of processes.
func markedProcesses(string) map[int]string { return nil }
