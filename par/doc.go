// Package par computes on all CPUs: loops over indexes and slices, and sorts. It is for pure
// computation, without a context, errors or a limit. Use package stint for work that waits: for
// a network, a disk, or another item. A loop that takes less than some hundred microseconds
// gains little or nothing.
//
//   - [Range] loops over indexes, and gives f many of them at a time. [RangeWith] also gives
//     f a state that no other call has at the time: a histogram, a map, a buffer.
//   - [Each] and [Map] call f for each element of a slice. A call costs 1 to 2 ns on top of
//     f; use Range for items of a few nanoseconds.
//   - [Reduce] combines all elements into one result, the same to the last bit on any number
//     of CPUs.
//   - [Find] returns the first element with a property.
//   - [Sort], [SortFunc] and [SortStableFunc] replace those of package slices.
//
// # Where the calls run
//
// Calls run on the caller's goroutine and on others, up to GOMAXPROCS in all. Each call of a
// function of this package reads GOMAXPROCS. When the function returns, all calls of f have
// returned and the other goroutines have ended.
//
// Calls of f run concurrently, so they must not append to a shared slice, change a shared
// variable or write to a shared map without a lock. Write to the element or to out[i], or use
// Map or Reduce. Items start roughly in order. They may differ in cost. An item must not wait
// for another item, which may be next on the same goroutine.
//
// # Cost
//
// A loop starts on the caller's goroutine alone. Other goroutines help when the measured time
// of its first items shows that 60 µs of work or more are left. A loop with fewer than 8 items
// for each further CPU, and at least two, gets help at once, which costs about 1 µs. Any other
// short loop of up to a hundred items costs about half a microsecond more than a plain loop.
// Under the race detector short loops run on two goroutines, so that it can find races in
// tests; sorts do not.
//
// # Nesting and panics
//
// f may call functions of this package, and so may tasks of package stint. Each such call uses
// up to GOMAXPROCS goroutines, which no limit of stint counts.
//
// If a function panics, on any goroutine, no further calls start except for a few short calls,
// running calls finish, and the caller panics with a *stint.PanicError that holds the value
// and the stack. Its Also has the panics of other calls. If the running calls take more than a
// second, the panic is also written to standard error. runtime.Goexit in a call ends the
// caller's goroutine in the same way. Results written until then remain.
//
// A nil function or a negative n panics at once, for example with "par: Range: n is -1, want 0
// or more".
package par
