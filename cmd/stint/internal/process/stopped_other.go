//go:build !linux && !darwin

package process

import "os"

func isStopped(int) bool { return false } // nothing tells here

func notifyContinued(chan<- os.Signal) {}
