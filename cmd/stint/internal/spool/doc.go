// Package spool keeps the output of jobs until it is their turn to be printed: a bounded
// number of bytes in memory, the rest in one temporary file that all jobs share.
//
// # States of a buffer
//
// A [Buffer] is one output stream of one job. It is in one of four states:
//
//	kept       Write keeps its bytes. A new buffer is kept.
//	draining   Direct writes what is kept to w. Write waits for the end of that.
//	direct     Nothing is kept. Write passes its bytes to w.
//	discarded  Nothing is kept. Write drops its bytes.
//
// Direct leads from kept to draining and, when all is written, to direct. Discard leads
// from any state to discarded. No state is left otherwise. An error of w, or of the file
// while it is read, leads to direct at once: what was kept is freed, and Write returns
// the error.
//
// # Who waits for whom
//
// A Write waits for room only while its buffer is kept. It goes on when a byte of memory
// or a block of the file is freed, or when its own buffer is no longer kept. So a buffer
// that has been made direct waits for w and for nothing else.
//
// Within a buffer, one goroutine at a time uses the kept bytes outside the lock of the
// spool: a Write that copies bytes or writes them to the file, a Direct, or a Read. The
// others take turns with it as follows:
//
//   - Direct changes the state first and then waits for a Write in progress, which may
//     have kept a part of its bytes. The rest of them goes to w after what was kept.
//   - Discard does not wait. Where a Write, a Direct or a Read is in progress, that frees
//     what is kept when it is done with it.
//   - A Direct of a buffer that is draining waits for the first Direct.
package spool
