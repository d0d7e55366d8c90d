// Package par computes on all processors: loops over indexes and slices, and
// sorts. It is for pure computation. There is no context, no error and no limit to
// choose; what waits, for a network, a disk or another item, belongs to package
// stint.
//
// # Which one
//
//   - Range for a loop that one would write over indexes: f gets many of them at a
//     time, so that its own loop costs what it costs without this package.
//   - Each and Map for the elements of a slice, one call each. A call that does
//     nothing takes 1 to 2 ns; items of a few nanoseconds want Range.
//   - Reduce for a result of all elements, the same to the last bit on any number of
//     processors.
//   - Find for the first element with a property.
//   - Sort, SortFunc and SortStableFunc in place of those of package slices.
//
// # Where the calls run
//
// On the caller's goroutine and on as many others as make GOMAXPROCS of them, which
// is read at each call. All calls of f have returned, and the other goroutines have
// ended, when a function of this package returns. The functions given to it must
// therefore be safe to be called at the same time, unless they are called for
// different elements and touch nothing else.
//
// Items are begun roughly in order, by whichever goroutine is free. How many are
// taken at once follows the time that they are measured to take, so items may differ
// in cost as much as they like. None may wait for another: it may be behind it.
//
// A loop of many items begins on the caller's goroutine alone, and calls the others
// when the time of the first items shows that 60 µs or more are left. For a loop of
// fewer than 128 items for each further processor the package remembers, for each
// function it is given, what an item has cost: when that is little the loop begins
// alone too, when it is much, or nothing is known, the others are called at once.
// So a short loop costs 0.1 to 0.5 µs more than without this package, and about 1 µs
// more the first time; with one item, or with GOMAXPROCS at 1, some nanoseconds. It
// allocates nothing but what f captures.
//
// # Panics
//
// When a function that was given panics, on whichever goroutine, calls that were
// begun are let return, no others are begun but for some short ones that were taken
// with them, and the caller gets a *PanicError with the value and the stack. That is so with one item, and on one processor, too.
// A call of runtime.Goexit ends the caller's goroutine in the same way, as it would
// in a plain loop. What other calls have written by then stays written.
//
// A function that is nil, or a negative n, panics at once with a text that names
// the function: "par: Range: n is -1, want 0 or more".
package par
