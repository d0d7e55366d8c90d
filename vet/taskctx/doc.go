// Package taskctx reports calls in a task that get another context than the task's.
//
// The context of a task ends at the first error of another task, and it is how stint knows the task:
// a nested call with another context does not run on the permit of the task, and can wait for
// ever when all tasks do so. Pass on the task's context, or one made from it:
//
//	stint.Each(ctx, urls, func(taskCtx context.Context, url string) error {
//		http.NewRequestWithContext(ctx, "GET", url, nil)     // before
//		http.NewRequestWithContext(taskCtx, "GET", url, nil) // after
//		...
//	})
//
// A task is a function literal, a variable that holds one, or a function or method of the package, that
// is given to a call of stint; the field of a method's receiver is another context, too. The nested
// calls are those of stint and its packages, of net and database/sql, http.NewRequestWithContext, exec.CommandContext, and
// functions of the package that pass their context to one of these.
//
// A context that is detached on purpose is not reported: a variable of a package, and a context of
// context.Background or context.WithoutCancel that is not the one which the call of the task was given.
// Neither are TryDo and TryGo, which do not wait; deferred calls, since the context of the task may have
// ended before them; and a task of Do that was given another context than the one it passes on: that bounds
// the time until the task begins.
package taskctx
