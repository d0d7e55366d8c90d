//go:build race

package race

import (
	"hash/maphash"
	"runtime"
	"unsafe"
)

// Enabled reports whether the program was built with -race.
const Enabled = true

// Sharp says that each task runs on a goroutine of its own, so that the detector reports
// races between tasks however short they are. Tests of the library may set it to false
// before they use the library. Then workers are reused and claim without the lock, as in
// programs built without -race, and the detector checks that.
var Sharp = true

// Ends tells the detector which tasks somebody has waited for. The zero Ends has none.
type Ends struct{ address uint64 }

// Release is called by a task that has ended.
func (e *Ends) Release() { runtime.RaceReleaseMerge(unsafe.Pointer(e)) }

// Acquire orders what the goroutine does next after the tasks that have called Release. It is
// called after the step by which the goroutine learns that they have ended.
func (e *Ends) Acquire() { runtime.RaceAcquire(unsafe.Pointer(e)) }

// Keys tell the detector which tasks of a key have ended. Keys whose hashes are equal are one.
type Keys struct {
	seed maphash.Seed
	ends [1024]Ends
}

// Open makes k ready.
func (k *Keys) Open() { k.seed = maphash.MakeSeed() }

// Release is called by a task of the key that has ended.
func (k *Keys) Release(key any) { k.of(key).Release() }

// Acquire orders what the goroutine does next after the tasks of the key that have called Release.
func (k *Keys) Acquire(key any) { k.of(key).Acquire() }

func (k *Keys) of(key any) *Ends {
	return &k.ends[maphash.Comparable(k.seed, key)%uint64(len(k.ends))]
}

// Disable hides from the detector what the goroutine orders by the atomics that follow, until
// it calls Enable. What it reads and writes is not hidden. It must not block meanwhile.
func Disable() { runtime.RaceDisable() }

// Enable ends Disable.
func Enable() { runtime.RaceEnable() }

// Aside calls f on a goroutine of its own, waits for its end, and returns its result. For
// the detector, nothing that the caller has done is ordered before f, not even writes to what
// f refers to. So the caller may use locks of the library in f, which then order nothing that
// it does.
func Aside[T any](f func() T) T {
	done := make(chan T, 1)
	runtime.RaceDisable()
	go func() { done <- f() }()
	runtime.RaceEnable()
	return <-done
}

// Unseen returns what is at p. For the detector, nothing was read: so f of Aside may get an argument
// of the caller.
//
//go:norace
func Unseen[T any](p *T) T { return *p }

// Apart calls f on a goroutine of its own, waits for its end, and returns its result; returned
// is false after a Goexit. For the detector, nothing that f does is ordered before what follows.
// So a worker may run tasks and use locks in between, and does not order its tasks. A panic of f
// crashes the process.
//
// Only the send is hidden from the detector. The receive must not be, because
// synctest.Wait orders what the caller has done before; it acquires nothing.
func Apart(f func() bool) (result, returned bool) {
	done := make(chan [2]bool, 1) // made here: in the synctest bubble of the caller
	go func() {
		var end [2]bool
		defer func() {
			if v := recover(); v != nil {
				panic(v) // before the caller continues
			}
			runtime.RaceDisable()
			done <- end
			runtime.RaceEnable()
		}()
		end = [2]bool{f(), true}
	}()
	end := <-done
	return end[0], end[1]
}
