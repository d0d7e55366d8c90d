// Package par computes on all processors: loops over indexes and slices, and
// sorts. It is for pure computation. There is no context, no error and no limit to
// choose; what waits, for a network, a disk or another item, belongs to package
// stint. A loop that takes less than some 100 µs gains nothing by it, and loses what
// is said below.
//
// # Which one
//
//   - [Range] for a loop that one would write over indexes: f gets many of them at a
//     time, so that its own loop costs what it costs without this package.
//   - [Each] and [Map] for the elements of a slice, one call each. A call that does
//     nothing takes 1 to 2 ns; items of a few nanoseconds want Range.
//   - [Reduce] for a result of all elements, the same to the last bit on any number
//     of processors.
//   - [Find] for the first element with a property.
//   - [Sort], [SortFunc] and [SortStableFunc] in place of those of package slices.
//
// # Where the calls run
//
// On the caller's goroutine and on as many others as make GOMAXPROCS of them, which
// is read at each call. All calls of f have returned, and the other goroutines have
// ended, when a function of this package returns.
//
// Several calls run at once. They must not append to a slice, count in a variable or
// write to a map that they share: write to the element, to out[i], or use Map or
// Reduce. A mutex in f is fine. There is nothing that belongs to one goroutine: what
// f needs for its work it makes itself, in Range once a piece.
//
// Items are begun roughly in order, by whichever goroutine is free. How many are
// taken at once follows the time that they are measured to take, so items may differ
// in cost as much as they like. An item must not wait for another: that may be the
// next one on the same goroutine, so they wait for ever, perhaps only the next
// time, or on another machine.
//
// # What it costs
//
// A loop of many items begins on the caller's goroutine alone, and calls the others
// when the time of the first items shows that 60 µs or more are left. For a loop of
// fewer than 128 items for each further processor the package remembers, for each
// function it is given, what an item has cost: when that is little the loop begins
// alone too, when it is much, or nothing is known, the others are called at once.
// So a short loop of up to a hundred items costs 0.1 to 0.5 µs more than without this
// package, and about 1 µs more the first time; with one item, or with GOMAXPROCS at 1,
// some nanoseconds. It allocates nothing but what f captures. At a length of about
// 50 µs to call the others does not pay yet: such a loop, after a pause, took 1.3 to
// 1.5 times as long on two cores of an Intel Xeon (go run ./lab run loops, loop=cold).
//
// In a program that is built with the race detector, short loops run on two
// goroutines, so that it sees what is shared in tests too; those of Find and the
// sorts do not.
//
// # Nesting, errors and cancellation
//
// f may call functions of this package, and a task of package stint may; such a call
// takes up to GOMAXPROCS goroutines of its own, which no limit of stint counts, and
// Go shares out the processors. A context is not looked at: who wants to stop early
// asks it in f and returns at once. Errors are results: let Map return them, or use
// package stint.
//
// # Panics
//
// When a function that was given panics, on whichever goroutine, calls that were
// begun are let return, no others are begun but for some short ones that were taken
// with them, and the caller gets a [*PanicError] with the value and the stack: always,
// so code that recovers a value of its own finds it in the field Value. A call of
// runtime.Goexit ends the caller's goroutine in the same way, as it would in a plain
// loop. What other calls have written by then stays written.
//
// A function that is nil, or a negative n, panics at once with a text that names
// the function: "par: Range: n is -1, want 0 or more".
package par
