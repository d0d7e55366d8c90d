package conformance_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/par"
	"github.com/stint-go/stint/stream"
)

// A program is some limiters and pools, and callers that make calls on them, whose tasks make
// calls. It is decoded from bytes, so that a fuzzer can change and shorten it, and does the
// same however it is scheduled.
type program struct {
	resources []resourcePlan
	callers   [][]*callPlan
	closing   []closePlan
}

// A resourcePlan is a limiter, or a pool with a limiter.
type resourcePlan struct {
	limit, queue         int
	adaptive, pool, lows bool
}

// A closePlan ends or changes a resource after a while.
type closePlan struct {
	on    int
	after time.Duration
	what  int
	n     int
}

// A callPlan is a call of a kind and its tasks.
type callPlan struct {
	kind             *callKind
	on               int // its resource; -1: none
	limit            int // of its own; 0: none
	also             int // a limiter beside a pool; -1: none
	queue            int // -1: the default
	keep, low, named bool
	context          int // what ends it
	after            time.Duration
	through          bool // its panic passes through its caller
	tasks            []*taskPlan
}

// A taskPlan is what a task does.
type taskPlan struct {
	works time.Duration
	calls []*callPlan
	fails bool // with the error of a call
	end   int
}

// How tasks end.
const (
	returns = iota
	fails
	panics
	exits
	watches // its context, for a while
	endings
)

// choices decide. When they have run out, each choice is the first one.
type choices []byte

func (c *choices) of(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

func (c *choices) rarely(n int) bool { return c.of(n) == n-1 }

// duration is often none, and seldom the same as another. Idle workers end in the longest.
func (c *choices) duration() time.Duration {
	n := time.Duration(c.of(256))
	if n >= 250 {
		return n * 6 * time.Millisecond
	}
	return n * n * time.Microsecond
}

func decodeProgram(data []byte) *program {
	c := choices(data)
	p := new(program)
	for range 1 + c.of(4) {
		kind := c.of(5)
		p.resources = append(p.resources, resourcePlan{
			limit: 1 + c.of(4), queue: c.of(4) * c.of(10), adaptive: kind == 1 || kind == 4, pool: kind >= 2, lows: c.rarely(6),
		})
	}
	for range c.of(3) {
		p.closing = append(p.closing, closePlan{c.of(len(p.resources)), c.duration(), c.of(4), c.of(4)})
	}
	for range 1 + c.of(3) {
		p.callers = append(p.callers, p.calls(&c, 1+c.of(3), 0, 0))
	}
	return p
}

// calls decodes n calls. They use resources from the one of the given level on, as those who
// nest locks take them in one order.
func (p *program) calls(c *choices, n, level, depth int) (calls []*callPlan) {
	for range n {
		x := &callPlan{
			on: c.of(len(p.resources)-level+1) - 1, kind: &callKinds[c.of(len(callKinds))],
			queue: c.of(8)*c.of(3) - 1, keep: c.rarely(3), low: c.rarely(5), named: c.rarely(8),
			context: c.of(12), after: c.duration(), through: c.rarely(3), also: -1,
		}
		below := level
		if x.on >= 0 {
			x.on += level
			below = x.on
		} else {
			x.limit = c.of(4)
		}
		if x.on >= 0 && p.resources[x.on].pool && x.kind.takesBoth() {
			x.limit = c.of(4)
			if i := x.on + 1 + c.of(4); i < len(p.resources) && x.limit == 0 {
				x.also, below = i, i
			}
		}
		if x.kind.apart { // its tasks are beside the caller's: they need permits of their own
			below = max(below+1, level+1)
		}
		below = min(below, len(p.resources))
		for range x.kind.count(1 + c.of(5)) {
			x.tasks = append(x.tasks, p.task(c, x.kind, below, depth))
		}
		if c.rarely(8) && !x.kind.one {
			for range 30 {
				x.tasks = append(x.tasks, new(taskPlan)) // that do nothing
			}
		}
		calls = append(calls, x)
	}
	return calls
}

// task decodes a task of a call of kind k.
func (p *program) task(c *choices, k *callKind, level, depth int) *taskPlan {
	t := &taskPlan{works: c.duration(), fails: c.rarely(2)}
	if depth < 4 && !k.plain {
		t.calls = p.calls(c, max(c.of(4)-1, 0), level, depth+1)
	}
	t.end = max(c.of(8+endings)-8, returns)
	return t
}

// String describes the program, a call a line.
func (p *program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%+v\n", p.resources, p.closing)
	var show func(calls []*callPlan, indent string)
	show = func(calls []*callPlan, indent string) {
		for _, c := range calls {
			fmt.Fprintf(&b, "%s%s on %d and %d limit %d queue %d keep %v low %v context %d after %v through %v\n",
				indent, c.kind.name, c.on, c.also, c.limit, c.queue, c.keep, c.low, c.context, c.after, c.through)
			for i, t := range c.tasks {
				fmt.Fprintf(&b, "%s  %d: %v, end %d, fails %v\n", indent, i, t.works, t.end, t.fails)
				show(t.calls, indent+"    ")
			}
		}
	}
	for _, calls := range p.callers {
		b.WriteString("caller\n")
		show(calls, "  ")
	}
	return b.String()
}

// A callKind is a way to run tasks.
type callKind struct {
	name        string
	keep, queue bool // these options apply
	exits       bool // tasks run on the caller's goroutine too: a Goexit may end that
	apart       bool // tasks run on other goroutines, and not as tasks of the call
	plain       bool // tasks make no calls
	one         bool // it has one task
	loop        bool // a pool does not count its tasks
	streams     bool // it counts batches, and its first error is that of the first record
	raw         bool // a panic passes through as it is
	run         func(r *running, ctx context.Context, f body, opts ...stint.Option) error
}

// count is how many of n tasks it has.
func (k *callKind) count(n int) int {
	if k.one {
		return 1
	}
	return n
}

// takesBoth reports whether a call may have a limiter beside a pool.
func (k *callKind) takesBoth() bool { return !k.raw && !k.apart && k.name != "fire" }

// callKinds are all of them: the entry points, but for First, which is turned round there, and
// those below.
var callKinds = slices.Concat(plainKinds(), []callKind{
	{name: "First", exits: true, loop: true, run: func(r *running, ctx context.Context, f body, opts ...stint.Option) error {
		_, err := stint.First(ctx, indexes(r.n()), valued(f), opts...)
		return err
	}},
	{name: "First, hedged", run: func(r *running, ctx context.Context, f body, opts ...stint.Option) error {
		_, err := stint.First(ctx, indexes(r.n()), valued(f), append(opts, stint.HedgeAfter(time.Second))...)
		return err
	}},
	{name: "Group of all", keep: true, queue: true, run: everyGo},
	{name: "Results of all", keep: true, queue: true, run: everyResult},
	{name: "two keys", keep: true, queue: true, run: func(r *running, ctx context.Context, f body, opts ...stint.Option) error {
		defer r.inTurn(2)
		return stint.EachKey(ctx, count(r.n()), func(i int) int { return i % 2 }, f, opts...)
	}},
	{name: "errgroup", apart: true, run: ofErrgroup},
	{name: "left", keep: true, queue: true, run: leftEarly},
	{name: "ParMap", queue: true, streams: true, run: func(r *running, ctx context.Context, f body, opts ...stint.Option) error {
		out, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(r.n())), valued(f), opts...))
		r.inOrder(out, err)
		return err
	}},
	{name: "pipeline", queue: true, streams: true, run: pipeline},
	{name: "fire", queue: true, run: (*running).fire},
	{name: "Do", exits: true, loop: true, one: true, raw: true, run: alone((*stint.Limiter).Do)},
	{name: "TryDo", exits: true, loop: true, one: true, raw: true, run: alone((*stint.Limiter).TryDo)},
	{name: "Transport", exits: true, plain: true, loop: true, one: true, raw: true, run: alone(throughTransport)},
	{name: "Handler", exits: true, loop: true, one: true, raw: true, run: alone(throughHandler)},
	{name: "par", exits: true, apart: true, plain: true, run: func(r *running, ctx context.Context, f body, _ ...stint.Option) error {
		var failed error
		par.Range(r.n(), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if err := f(ctx, i); err != nil {
					r.keep(&failed, err)
				}
			}
		})
		return failed
	}},
})

func plainKinds() (all []callKind) {
	for _, e := range searching() {
		loop := slices.Contains([]string{"Each", "Map", "Range"}, e.name)
		all = append(all, callKind{
			name: e.name, keep: true, queue: !loop, exits: loop, loop: loop,
			run: func(r *running, ctx context.Context, f body, opts ...stint.Option) error {
				return e.run(ctx, r.n(), f, opts...)
			},
		})
	}
	return all
}

// everyGo starts tasks by every method of a group.
func everyGo(r *running, ctx context.Context, f body, opts ...stint.Option) error {
	g := stint.NewGroup(ctx, opts...)
	for i := range r.n() {
		task := func(ctx context.Context) error { return f(ctx, i) }
		switch i % 3 {
		case 0:
			r.answer(i, g.Go(task))
		case 1:
			r.answer(i, g.TryGo(task))
		case 2:
			r.answer(i, g.GoContext(ctx, task) == nil)
		}
	}
	return g.Wait()
}

func everyResult(r *running, ctx context.Context, f body, opts ...stint.Option) error {
	g := stint.NewResults[int](ctx, opts...)
	for i := range r.n() {
		task := func(ctx context.Context) (int, error) { return i, f(ctx, i) }
		switch i % 3 {
		case 0:
			r.answer(i, g.Go(task))
		case 1:
			r.answer(i, g.TryGo(task))
		case 2:
			r.answer(i, g.GoContext(ctx, task) == nil)
		}
	}
	out, err := g.Wait()
	r.results(out, err)
	return err
}

func ofErrgroup(r *running, ctx context.Context, f body, _ ...stint.Option) error {
	g := new(errgroup.Group)
	if r.plan.low {
		g, ctx = errgroup.WithContext(ctx)
	}
	if r.plan.limit > 0 {
		g.SetLimit(r.plan.limit)
	}
	for i := range r.n() {
		task := func() error { return f(ctx, i) }
		if i%3 == 1 {
			r.answer(i, g.TryGo(task))
		} else {
			g.Go(task)
			r.answer(i, true)
		}
	}
	return g.Wait()
}

// leftEarly leaves the loop over the results after the first.
func leftEarly(r *running, ctx context.Context, f body, opts ...stint.Option) error {
	r.partial = true
	next, stop := iter.Pull2(stint.MapSeq(ctx, count(r.n()), valued(f), opts...))
	defer stop()
	_, err, _ := next()
	if item, ok := err.(*stint.ItemError); ok {
		return item.Err
	}
	return err
}

// pipeline has every boundary of package stream.
func pipeline(r *running, ctx context.Context, f body, opts ...stint.Option) error {
	twice := stream.FlatMap(stream.From(indexes(r.n())), func(i int) iter.Seq[[]int] { return slices.Values([][]int{{i}, nil}) })
	s := stream.FlatMap(stream.Buffer(twice, 2), slices.Values[[]int])
	s = stream.ParMapKey(s, itself, valued(f), opts...)
	s = stream.FlatMap(stream.Chunk(s, 2, time.Millisecond), slices.Values[[]int])
	out, err := stream.Collect(ctx, stream.Merge(s, stream.From[int](nil)))
	slices.Sort(out)
	r.inOrder(out, err)
	return err
}

// fire starts tasks of a pool and does not wait for them.
func (r *running) fire(ctx context.Context, f body, opts ...stint.Option) error {
	pool := r.pool()
	if pool == nil {
		return everyGo(r, ctx, f, opts...)
	}
	r.fired, r.partial = true, true
	r.w.add(r)
	for i := range r.n() {
		task := func(ctx context.Context) { f(ctx, i) }
		switch {
		case i%3 == 1:
			r.answer(i, pool.TryGo(task))
		case i%3 == 2 && r.outside:
			r.answer(i, pool.Go(task) == nil)
		default:
			r.answer(i, pool.GoContext(ctx, task) == nil)
		}
	}
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// alone runs one task by a function of a limiter.
func alone(do func(*stint.Limiter, context.Context, func(context.Context) error) error) func(*running, context.Context, body, ...stint.Option) error {
	return func(r *running, ctx context.Context, f body, _ ...stint.Option) error {
		return do(r.limiter(), ctx, func(ctx context.Context) error { return f(ctx, 0) })
	}
}

// throughTransport runs f as the Base of a Transport on l.
func throughTransport(l *stint.Limiter, ctx context.Context, f func(context.Context) error) error {
	transport := &httplimit.Transport{Limiter: l, Base: roundTripper(func(req *http.Request) (*http.Response, error) {
		if err := f(req.Context()); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://server/", nil)
	resp, err := transport.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

// throughHandler runs f in a Handler on l.
func throughHandler(l *stint.Limiter, ctx context.Context, f func(context.Context) error) (err error) {
	err = errRefused
	h := httplimit.Handler(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { err = f(req.Context()) }), l, 1)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	return err
}
