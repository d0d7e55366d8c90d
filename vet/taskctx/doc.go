// Package taskctx reports calls in a task that get another context than the task's.
//
// The context of a task ends at the first error of another task, and stint finds the permit of
// the task by this context. A nested call with another context does not use the permit of the
// task: if all tasks make such calls, they can wait for ever. Pass on the task's context, or a
// context made from it:
//
//	stint.Each(ctx, urls, func(taskCtx context.Context, url string) error {
//		http.NewRequestWithContext(ctx, "GET", url, nil)     // before
//		http.NewRequestWithContext(taskCtx, "GET", url, nil) // after
//		...
//	})
//
// A task is a function that is given to a call of stint: a function literal, a variable that
// holds a function literal, or a function or method of the package. A context in a field of the
// method's receiver is another context. Nested calls are calls of stint and its packages, of
// net and database/sql, of http.NewRequestWithContext and exec.CommandContext, and of functions
// of the package that pass their context to one of these.
//
// A context that is detached on purpose is not reported: a variable of a package, and a context
// of context.Background or context.WithoutCancel unless it was given to the call that starts
// the task. TryDo and TryGo are not reported, since they do not wait. Deferred calls are not
// reported, since the context of the task may have ended before them. In a task of Do, another
// context is reported only if it was also given to Do: a different context given to Do may
// bound the time until the task begins.
package taskctx
