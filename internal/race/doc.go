// Package race tells the race detector what the library orders, and nothing else. A program
// built with -race runs each task on a goroutine of its own ([Apart]), whose end is hidden
// from the detector: so the locks of the library and its reuse of goroutines do not make
// tasks look ordered. The order that is documented is told with [Ends],
// [Order] and [Keys]. Package errgroup has a goroutine for each task anyway, and hides the steps by which
// it counts them ([Disable]).
//
// In programs built without -race all of this is nothing. Package par also splits loops that
// one goroutine would do alone if [Enabled] is true, and tests do less of what takes long and
// do not judge what the detector changes.
package race
