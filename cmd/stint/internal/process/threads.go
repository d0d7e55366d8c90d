package process

import (
	"runtime"
	"sync"
)

// reservedThreads are more than the runtime needs while processes run.
const reservedThreads = 16

// reserveThreads makes the runtime start threads, which it keeps. When the limit of processes
// is reached later, it could start none, and would abort this process.
func reserveThreads() {
	var held, wg sync.WaitGroup
	held.Add(reservedThreads)
	for range reservedThreads {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			held.Wait()
		})
	}
	wg.Wait()
}
