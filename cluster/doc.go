// Package cluster runs the functions of a program on many machines, with the manners of
// package stint: bounded, in order, with the first error or all of them. The queue and
// the results are in NATS JetStream; package
// github.com/stint-go/stint/cluster/embedded has a server for one process, for tests
// and for the first machine.
//
// What both sides share gives a function a name:
//
//	var Digest = cluster.NewTask("digest/v1", func(ctx context.Context, path string) (string, error) {
//		...
//	})
//
// A worker, on each machine that is to help:
//
//	e, err := cluster.Connect(ctx, "nats://queue.example:4222")
//	e.Handle(Digest)
//	err = cluster.Serve(ctx, e) // until ctx ends
//
// A submitter:
//
//	e, err := cluster.Connect(ctx, "nats://queue.example:4222")
//	sums, err := cluster.Map(ctx, e, Digest, paths)
//
// # Terms
//
// An engine is a connection to the server. A task is a function with a name, and also
// one call of it for one item. A run is one call of Map or MapSeq, with its submitter.
// A worker is a call of Serve; it has slots, as many as its limit, each for one task at
// a time. A lease is for how long a worker has a task unless it says that it still
// works on it. An item and a result are encoded, as JSON unless Codec is given.
//
// # What happens to a task
//
//  1. The submitter publishes the encoded item to the queue, a stream that refuses what
//     is more than QueueLimit: then the submitter waits, until ctx ends. At most the
//     window, the Limit and the Queue of the run, are submitted and not consumed; WindowBytes
//     bounds that in bytes.
//  2. A worker with a free slot and a handler of that name gets it. Names that no worker
//     knows stay in the queue. Slots ask for as many tasks as there are free slots:
//     nothing is held back by a worker that is busy. The Limit of the run bounds how many
//     tasks of that name are with workers.
//  3. The worker calls the function, says each third of the lease that it has the task,
//     and retries as Retry says.
//  4. It publishes the result, or the error, on a subject that takes one message: the
//     first result counts, another is refused. Then it takes the task out of the queue,
//     and waits until the server has said that it did.
//  5. The submitter receives it, puts it in order, and hands it on. When the run ends its
//     record, its results and what is left of it in the queue are removed.
//
// A worker that dies, is paused, or is cut off says nothing: when the lease ends another
// worker gets the task. The old one, if it lives, sees by its own clock that the lease
// has ended, and ends the context of the function with ErrLeaseLost. A worker renews
// the lease of a hanging function for ever, unless the task has a Timeout: then the context
// of the function ends, and if that does not help the worker leaves the call behind, gives
// its slot to another task, and sends an error. A task that was lost
// with two workers runs the third time alone on its worker. If it is lost twice like that
// it is put aside: its result is ErrPoison, and Status and ListAside show it with its input.
// Submit the item again when the workers are mended. If nobody has got that error yet,
// since the run has a Name and waits for Resume, RetryAside puts the task back into
// its run. DropAside removes it.
//
// # Deploying
//
// The name of a task stands for what it does, and for how In and Out are encoded. When one of
// these changes, give it another name, and let workers handle both until Status shows
// nothing of the old one: a worker of the old version fails items of the new. Names that
// no worker handles wait.
//
// To stop a worker, end the ctx of Serve: it finishes what it has. To bound that, call
// Close of the engine after a while: it gives the tasks back to the queue, tells the
// functions by their contexts, and does not wait for them; then end the process.
//
// To cap a task in the whole cluster, give the same Limit in each run: the smallest
// of those under way counts for all, and there is no other cap.
//
// Whoever can connect may do everything: submit, read items, take tasks, forge results,
// unless the server gives its users roles, as Users of package embedded does. So a server that
// others reach needs authentication, and TLS where others read the network:
// NATS(nats.Token(...), nats.RootCAs(...)), or a URL such as
// "tls://TOKEN@queue.example:4222".
//
// # What is promised
//
//   - Each item of a run that ends without an error has one result, the same for all
//     who look. Results come in the order of the items.
//   - What was submitted is run at least once, as long as there are workers, the server
//     keeps its streams, and the run is not cancelled.
//   - The queue, the window, the slots and the limit bound what is where: the submitter,
//     the server and the workers need memory for these, and not for the length of a run.
//     A run with a Name is an exception: the server keeps its results until it ends, and
//     Resume may have to hold them.
//   - An error, a panic, a Goexit, an item that is too large, a task that kills its
//     workers: the submitter is told of each.
//   - The end of ctx, the first error and leaving a loop take what is queued out of the
//     queue, and end the contexts of what runs. Cancel does the same for any run, whoever
//     submitted it.
//   - A run with a Name outlives its submitter: Resume yields its results from the first.
//     One without is over when its submitter was not heard of for a minute. Within another
//     minute workers begin no more of its tasks and end the contexts of those that run,
//     and within three they remove what is left of it. If there is no worker, Purge does that.
//   - Serve, when its ctx ends, finishes what it has. Nothing is run again for that.
//
// # What is not promised
//
//   - That a function is called once. A worker that was paused or cut off may still run
//     what another one has begun. Use Info.ID as the key of effects that must happen
//     once.
//
//   - That no more tasks than the Limit run: those of workers that lost their leases run
//     on top of it, until they see it.
//
//   - That a function which ignores its context ends when the run is cancelled or its
//     Timeout is over, or that a worker that is cut off hears of it before it is back.
//
//   - That nothing is left of a run whose server does not answer when it ends: workers
//     remove it later, within three minutes, or Purge does. A write to a server that takes
//     nothing fails after ten seconds; cancel and Close may wait for that.
//
//   - That the error returned is the first in time: it is the first that reached the
//     submitter.
//
//   - The order in which tasks run. Only results have one.
//
//   - That what was submitted survives a failure of the power, with the default settings of
//     a NATS server: it confirms what it has not yet synced to the disk. Set sync_interval
//     to always, and Replicas(3) on three servers. Dir of package embedded syncs. Tests by
//     Jepsen of NATS 2.12.1 have found acknowledged messages lost after damaged files and
//     in some partitions, also with both settings: it is a queue, not an archive.
//
//   - That an item is submitted once, if its acknowledgement is lost and its result is
//     there before it is submitted again: it runs again, and the first result counts.
//
//   - That a task of a dead worker is taken over before the lease ends. A shorter Lease
//     is sooner, and costs more messages.
//
//   - Items and results larger than the server takes, a mebibyte by default: they are
//     refused with ErrTooLarge. Give a path or a URL.
//
//   - That the right task is blamed for a crash: what ran alone may have died of the
//     machine.
//
//   - That a submitter without a Name can be replaced, or what it had not submitted when
//     it died. Under Queue(n) up to n items are submitted ahead of their results.
//
//   - That a task which waits for tasks of its own cluster gets slots for them: with all
//     slots taken by such tasks they wait for ever.
//
//   - That what waits longer than Keep is there: items in the queue, results of a run with
//     a Name, runs whose submitter died.
//
//   - That a worker whose machine was suspended sees at once that its leases are over: its
//     clock stood still. The first result counts even so.
//
// # What the server needs
//
// NATS 2.11 or later with JetStream, in the account and the domain of the connection: not through
// a leaf node into another domain. Connect makes the streams if they are not there. With Prefix
// "stint" clients publish on "stint.>", "$JS.API.>" and "$JS.ACK.>", and subscribe
// to "_INBOX.>", "stint.over.*", "stint.full.*" and "stint.workers"; who connects with a user and a
// password subscribes to "_INBOX.<user>.>" instead, if the name can be part of a subject. A server
// that permits less says so, and calls return that. A queue of large items is bounded by QueueLimit
// and the limits that the stream has: when these are reached what is sent is sent again until there
// is room. When the server itself is full, or its limits for the account are reached, Log says so at
// once, and calls end with ErrFull when nothing moves on for half a minute. A server that cannot
// write, as its disk is full, says nothing: it is waited for like one that is away.
//
// # In tests
//
// Open of package embedded takes some milliseconds, so tests can have the real thing. Under Strict
// workers run some tasks twice and in another order: what is not idempotent fails.
package cluster
