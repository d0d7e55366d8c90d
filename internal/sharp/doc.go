// Package sharp tests what the race detector reports of programs that use the library: races
// between tasks, and nothing that the library orders. Its tests are built with -race only.
package sharp
