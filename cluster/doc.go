// Package cluster runs the functions of a program on many machines, with the guarantees of
// package stint: bounded, in order, with the first error or all of them. NATS JetStream stores
// the queue and the results. Package github.com/stint-go/stint/cluster/embedded has a server
// for one process, for tests and for the first machine.
//
// Submitters and workers share a function with a name:
//
//	var Digest = cluster.NewTask("digest/v1", func(ctx context.Context, path string) (string, error) {
//		...
//	})
//
// A worker, on each machine:
//
//	c, err := cluster.Connect(ctx, "nats://queue.example:4222")
//	c.Handle(Digest)
//	err = cluster.Serve(ctx, c) // until ctx ends
//
// A submitter:
//
//	c, err := cluster.Connect(ctx, "nats://queue.example:4222")
//	sums, err := cluster.Map(ctx, c, Digest, paths)
//
// # Terms
//
// A client is a connection to the server. A task is a function with a name, and also one call
// of the function for one item. A run is one call of [Map] or [MapSeq], by a submitter. A worker is
// a call of [Serve]. It has as many slots as its limit, and runs one task at a time in each slot.
// A worker has a task for the length of a lease, which it renews by heartbeats. Items and
// results are encoded, as JSON unless [Codec] is given. A field that may not be UTF-8 is a [Text].
//
// # Life of a task
//
//  1. The submitter publishes the encoded item to the queue, a stream with at most
//     [QueueLimit] messages. When the queue is full it waits. The Limit, the Queue and the
//     [WindowBytes] of the run bound what is submitted and not delivered.
//  2. A worker that has a free slot and a handler of the task's name receives the task.
//     Tasks whose names no worker knows stay in the queue.
//  3. The worker calls the function, retries as [Retry] says, and sends a heartbeat each
//     third of the lease.
//  4. The worker publishes the result, or the error, on a subject that takes one message:
//     the first result counts. Then it acknowledges the task, which leaves the queue.
//  5. The submitter receives the result and delivers it in order. When the run ends, its
//     record, results and tasks are removed.
//
// When a worker dies, is paused or is cut off, the lease ends and another worker receives the
// task. The old worker notices by its own clock, and ends the context of the function with
// [ErrLeaseLost]. A worker renews the lease of a hanging function forever, unless the task has a
// [Timeout].
//
// A task that two workers have lost is quarantined: it is the only task of its next worker. If
// it is lost twice more, and neither worker has come back, it becomes a dead letter: its result
// is [ErrPoison], and [Status] and [Client.DeadLetters] show it with its input. When the workers are
// repaired, submit the item again, or see [Client.RetryDeadLetter].
//
// # Deploying
//
// The name of a task stands for its function and for the encoding of In and Out. When one of
// these changes, use another name, and let workers handle both names until Status shows no
// tasks of the old name.
//
// To stop a worker, end the ctx of Serve: it finishes its tasks. To bound the wait, call Close
// of the client after a while, which returns the tasks to the queue. Then end the process. To
// limit a task in the whole cluster, give the same Limit in each run.
//
// Without authentication, every client of the server may submit, read items, take tasks and
// forge results. The option Users of package embedded gives clients roles. On networks that
// others can reach use NATS(nats.Token(...), nats.RootCAs(...)), or a URL such as
// "tls://TOKEN@queue.example:4222".
//
// # Guarantees
//
//   - Each item of a run that ends without an error has one result, the same for all
//     readers.
//   - Results come in the order of the items, unless [Unordered] is given.
//   - A submitted task runs at least once, if there are workers, the server keeps its
//     streams, and the run is not cancelled.
//   - The queue, the window, the slots and the limit bound the memory of the submitter, the server
//     and the workers. The length of a run does not count, nor does the size of a result sent in
//     [Parts]. The exception is a run with a Name: the server keeps its results until it ends, and
//     [Resume] may hold them.
//   - The submitter learns of each error, panic, Goexit, item that is too large, and poison
//     task.
//   - The end of ctx, the first error, leaving a loop, and Cancel remove the run's queued
//     tasks and end the contexts of its running tasks.
//   - A run with a Name outlives its submitter, and Resume continues it. A run without a
//     Name is over a minute after the last heartbeat of its submitter. Within three more
//     minutes workers remove its data. If there is no worker, call [Client.Purge].
//   - Serve finishes its tasks when its ctx ends.
//
// # Limits
//
//   - A function may be called more than once for an item, even concurrently, after a lease
//     is lost. Use Info.ID as the key of effects that must happen once. A second call is one more
//     than the Limit until the first worker notices.
//   - A function that ignores its context continues after the run is cancelled or its
//     Timeout is over. A worker that is cut off learns of a cancellation when it is
//     connected again.
//   - If the server does not answer when a run ends, parts of the run stay for up to three
//     minutes.
//   - The error returned is the first that reached the submitter, not the first in time.
//     Tasks run in no particular order.
//   - A NATS server confirms messages before it syncs them, by default: a power failure may
//     lose them. Set its sync_interval to always, and [Replicas](3) on three servers. Dir of
//     package embedded syncs. Even so, Jepsen's tests of NATS 2.12.1 lost acknowledged
//     messages after damaged files and in some partitions. The server is a queue, not an
//     archive.
//   - Items and results larger than [Client.MaxMessage], by default a mebibyte, are refused
//     with [ErrTooLarge]. Use a path or a URL, or send a large result in parts: see [SendPart].
//   - Quarantine may blame the wrong task: a worker may die for another reason.
//   - Items that a submitter had not submitted when it died are lost. Under Queue(n) up to n
//     items are submitted ahead of their results.
//   - Tasks that wait for tasks of their own cluster can occupy all slots, and then wait
//     forever.
//   - Data that waits longer than [Retention] is lost.
//
// # Requirements of the server
//
// NATS 2.11 or later with JetStream, in the account and the domain of the connection, not
// through a leaf node into another domain. [Connect] creates the streams. The page [Cluster] has
// the subjects that a user needs, and what happens without room.
//
// In tests, Open of package embedded takes some milliseconds.
//
// [Cluster]: https://github.com/stint-go/stint/blob/main/docs/cluster.md
package cluster
