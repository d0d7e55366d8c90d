package stint_test

import (
	"container/heap"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A plant is what tasks use: a server, processors, a lock, or nothing but time.
// What can be got out of it at each limit is known from queueing theory, so that
// what a controller finds can be compared with it. Plants run in virtual time.
// Those that need real processors are in the laboratory.
type plant struct {
	number  int // in the list of plants of docs/design
	name    string
	best    int           // the smallest limit up to 256 that gets 0.97 of the most
	horizon time.Duration // long enough for a controller to find best and to stay there
	whole   bool          // with a shorter horizon it is another plant: it changes on the way, or long tasks come late

	// rate is how many tasks a millisecond end at a fixed limit.
	rate func(limit int) float64

	// task builds one, to be used by all tasks of a run. It is called in the bubble.
	task func(r *rand.Rand) func(context.Context) error
}

// plants are those that are driven by a loop over more items than it can get
// done. The numbers between are batches and the tests at the end, compute, or
// need several processes.
var plants = []plant{
	{3, "sleep", 249, 600 * time.Millisecond, false, servers(256, 4.5), sleeping(uniform, 4.5)},
	{4, "a hundredth computing", 208, 500 * time.Millisecond, false, repairman(2, 0.05, 4.95), mixed(2, 0.05, 4.95)},
	{4, "a tenth computing", 25, 2 * time.Second, false, repairman(2, 0.5, 4.5), mixed(2, 0.5, 4.5)},
	{4, "half computing", 6, 4 * time.Second, false, repairman(2, 2.5, 2.5), mixed(2, 2.5, 2.5)},
	{4, "mostly computing", 3, 6 * time.Second, false, repairman(2, 4.5, 0.5), mixed(2, 4.5, 0.5)},
	{5, "4 slots", 4, 40 * time.Second, false, servers(4, 50), slots(4, exponential, 50, nil)},
	{5, "4 slots, all alike", 4, 40 * time.Second, false, servers(4, 50), slots(4, alike, 50, nil)},
	{5, "20 slots", 20, 3 * time.Second, false, servers(20, 5), slots(20, exponential, 5, nil)},
	{5, "20 slots, all alike", 20, 3 * time.Second, false, servers(20, 5), slots(20, alike, 5, nil)},
	{6, "20 slots, shared", 20, 3 * time.Second, false, servers(20, 5), sharing(alike, 5, func(n int) float64 { return min(1, 20/float64(n)) })},
	{7, "far slots", 116, 2 * time.Second, false, repairman(10, 1, 10), farSlots(10, 1, 10)},
	{8, "rate limit", 20, 3 * time.Second, false, rateLimit(4, 5), limited(4, steps(5))},
	{9, "universal scalability", 32, 3 * time.Second, false, scalable, sharing(exponential, 5, scalability)},
	{10, "cliff", 20, 3 * time.Second, false, cliff, sharing(exponential, 5, collapsing)},
	{11, "latency step", 75, stepped, true, latencyStep, limited(4, steps(5, 20, 5))},
	{12, "capacity step", 20, stepped, true, capacityStep, slots(20, exponential, 5, fifteenAway)},
	{17, "heavy tail", 249, 600 * time.Millisecond, true, servers(256, 5), sleeping(pareto, 5)},
	{17, "20 slots, heavy tail", 20, 4 * time.Second, false, servers(20, 5), slots(20, lognormal, 5, nil)},
	{18, "tide", 20, 8 * period, true, servers(20, 5), tide},
	{18, "weather", 20, 16 * spell, true, weatherRate, weather},
	{19, "bimodal", 20, 4 * time.Second, false, servers(20, 5.9), slots(20, bimodal, 5.9, nil)},
	{20, "lock", 2, 500 * time.Millisecond, false, lockRate, locked},
}

// The rest of the file, from above: what plants are made of, what is known of
// them, how they are measured, the tests.

// A law is how long tasks take: the quantile function of a distribution, as some
// multiple of the mean.
type law struct {
	cards    int // in a deck
	quantile func(q float64) float64
}

var (
	alike       = law{1, func(float64) float64 { return 1 }}
	uniform     = law{100, func(q float64) float64 { return q }}
	exponential = law{100, func(q float64) float64 { return -math.Log(1 - q) }}
	pareto      = law{200, func(q float64) float64 { return math.Pow(1-q, -1/1.5) }}
	lognormal   = law{200, func(q float64) float64 { return math.Exp(1.5 * math.Sqrt2 * math.Erfinv(2*q-1)) }}
	bimodal     = law{100, func(q float64) float64 {
		if q < 0.9 {
			return 1
		}
		return 50
	}}
)

// A deck gives out the quantiles of a law in a random order, each as often as the
// others. Draws that are independent would vary so much in sum that a run would
// have to be ten times as long.
type deck struct {
	mu    sync.Mutex
	r     *rand.Rand
	cards []time.Duration
	left  int // not given out since it was shuffled
}

// deal returns a deck with a mean in milliseconds.
func deal(r *rand.Rand, l law, mean float64) *deck {
	sum := 0.0
	for i := range l.cards {
		sum += l.quantile((float64(i) + 0.5) / float64(l.cards))
	}
	d := &deck{r: rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))}
	for i := range l.cards {
		share := l.quantile((float64(i)+0.5)/float64(l.cards)) / sum
		d.cards = append(d.cards, milliseconds(share*mean*float64(l.cards)))
	}
	return d
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func (d *deck) draw() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		d.left = len(d.cards)
	}
	i := d.r.IntN(d.left)
	d.left--
	d.cards[i], d.cards[d.left] = d.cards[d.left], d.cards[i]
	return d.cards[d.left]
}

// sleeping is tasks that do nothing but sleep.
func sleeping(l law, mean float64) func(*rand.Rand) func(context.Context) error {
	return func(r *rand.Rand) func(context.Context) error {
		nap := deal(r, l, mean)
		return func(context.Context) error { time.Sleep(nap.draw()); return nil }
	}
}

// A counter is a number of slots that serve first come, first served. How long a
// task is served is known when that begins, and so is, from those who came before,
// when it begins: a task books its slot and sleeps once.
type counter struct {
	mu   sync.Mutex
	free []time.Duration                                // when each slot is free next, as sinceBubble
	away func(slot int, at time.Duration) time.Duration // when the slot can begin that is free at at
}

// serve returns when the task has been served. took says for how long, of when it
// begins.
func (c *counter) serve(took func(at time.Duration) time.Duration) {
	c.mu.Lock()
	now := sinceBubble()
	slot, at := 0, time.Duration(math.MaxInt64)
	for i, free := range c.free {
		free = max(free, now)
		if c.away != nil {
			free = c.away(i, free)
		}
		if free < at {
			slot, at = i, free
		}
	}
	end := at + took(at)
	c.free[slot] = end
	c.mu.Unlock()
	time.Sleep(end - now)
}

// slots is k slots behind one line.
func slots(k int, l law, mean float64, away func(int, time.Duration) time.Duration) func(*rand.Rand) func(context.Context) error {
	return func(r *rand.Rand) func(context.Context) error {
		c, d := &counter{free: make([]time.Duration, k), away: away}, deal(r, l, mean)
		return func(context.Context) error {
			c.serve(func(time.Duration) time.Duration { return d.draw() })
			return nil
		}
	}
}

// farSlots is k slots behind a line that is far away.
func farSlots(k int, mean, away float64) func(*rand.Rand) func(context.Context) error {
	return func(r *rand.Rand) func(context.Context) error {
		near := slots(k, exponential, mean, nil)(r)
		return func(ctx context.Context) error {
			time.Sleep(milliseconds(away))
			return near(ctx)
		}
	}
}

// The tide makes slots faster and slower all the time, the weather for a spell.
const (
	period = 700 * time.Millisecond
	spell  = 500 * time.Millisecond
)

func tide(r *rand.Rand) func(context.Context) error {
	return paced(r, func(at time.Duration) float64 {
		return 1 + 0.5*math.Sin(2*math.Pi*float64(at)/float64(period))
	})
}

// weathers are as fast as each of four spells in a row, in any order.
var weathers = [4]float64{math.Exp(-0.7), math.Exp(-0.25), math.Exp(0.25), math.Exp(0.7)}

func weather(r *rand.Rand) func(context.Context) error {
	var year []int
	for range 5 { // a spell more than the horizon, and some
		year = append(year, r.Perm(len(weathers))...)
	}
	return paced(r, func(at time.Duration) float64 { return weathers[year[min(int(at/spell), len(year)-1)]] })
}

// paced is 20 slots whose pace changes.
func paced(r *rand.Rand, pace func(at time.Duration) float64) func(context.Context) error {
	c, d := &counter{free: make([]time.Duration, 20)}, deal(r, exponential, 5)
	return func(context.Context) error {
		c.serve(func(at time.Duration) time.Duration { return time.Duration(float64(d.draw()) / pace(at)) })
		return nil
	}
}

// stepped is the horizon of the plants that change twice, after a third each.
const stepped = 9 * time.Second

// steps takes one of values, in milliseconds, after the other.
func steps(values ...float64) func(at time.Duration) time.Duration {
	return func(at time.Duration) time.Duration {
		i := int(at * time.Duration(len(values)) / stepped)
		return milliseconds(values[min(i, len(values)-1)])
	}
}

// fifteenAway closes all slots but five in the second third.
func fifteenAway(slot int, at time.Duration) time.Duration {
	if slot >= 5 && at >= stepped/3 && at < 2*stepped/3 {
		return 2 * stepped / 3
	}
	return at
}

// limited is a service that begins so many tasks a millisecond, and answers after
// a time that depends on when it began.
func limited(rate float64, latency func(at time.Duration) time.Duration) func(*rand.Rand) func(context.Context) error {
	return func(*rand.Rand) func(context.Context) error {
		one := milliseconds(1 / rate)
		gate := &counter{free: make([]time.Duration, 1)}
		return func(context.Context) error {
			var answer time.Duration
			gate.serve(func(at time.Duration) time.Duration { answer = latency(at); return one })
			time.Sleep(answer - one)
			return nil
		}
	}
}

// A station serves all who are inside at the same time, each at a speed that
// depends on how many they are: processors, or a server that shares itself out.
type station struct {
	speed func(n int) float64

	mu     sync.Mutex
	inside visits
	done   float64       // nanoseconds of work that one got who was inside from the beginning
	at     time.Duration // when that was
	timer  *time.Timer   // for the one who leaves next
}

// A visit is a task inside.
type visit struct {
	leaves float64 // at this done
	left   chan struct{}
}

func newStation(speed func(n int) float64) *station { return &station{speed: speed} }

// processors is a station of p of them.
func processors(p int) *station {
	return newStation(func(n int) float64 { return min(1, float64(p)/float64(n)) })
}

// serve returns when so much work has been done for the task.
func (s *station) serve(work time.Duration) {
	v := &visit{left: make(chan struct{})}
	s.mu.Lock()
	s.catchUp()
	v.leaves = s.done + float64(work)
	heap.Push(&s.inside, v)
	s.arm()
	s.mu.Unlock()
	<-v.left
}

// leave is called by the timer.
func (s *station) leave() {
	const rounding = 1e-3
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	for len(s.inside) > 0 && s.inside[0].leaves < s.done+rounding {
		close(heap.Pop(&s.inside).(*visit).left)
	}
	s.arm()
}

// catchUp brings done up to date. It is called before inside changes.
func (s *station) catchUp() {
	now := sinceBubble()
	if n := len(s.inside); n > 0 {
		s.done += float64(now-s.at) * s.speed(n)
	}
	s.at = now
}

// arm sets the timer anew. It is called after inside has changed.
func (s *station) arm() {
	n := len(s.inside)
	if n == 0 {
		return
	}
	wait := time.Duration(math.Ceil((s.inside[0].leaves - s.done) / s.speed(n)))
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.leave)
	} else {
		s.timer.Reset(wait)
	}
}

// visits are a heap, the next to leave on top.
type visits []*visit

func (v visits) Len() int           { return len(v) }
func (v visits) Less(i, j int) bool { return v[i].leaves < v[j].leaves }
func (v visits) Swap(i, j int)      { v[i], v[j] = v[j], v[i] }
func (v *visits) Push(x any)        { *v = append(*v, x.(*visit)) }
func (v *visits) Pop() any {
	last := (*v)[len(*v)-1]
	*v = (*v)[:len(*v)-1]
	return last
}

// sharing is tasks on one station.
func sharing(l law, mean float64, speed func(n int) float64) func(*rand.Rand) func(context.Context) error {
	return func(r *rand.Rand) func(context.Context) error {
		s, d := newStation(speed), deal(r, l, mean)
		return func(context.Context) error { s.serve(d.draw()); return nil }
	}
}

// mixed is tasks that compute and then wait.
func mixed(p int, compute, wait float64) func(*rand.Rand) func(context.Context) error {
	return func(r *rand.Rand) func(context.Context) error {
		s, c, w := processors(p), deal(r, exponential, compute), deal(r, exponential, wait)
		return func(context.Context) error {
			s.serve(c.draw())
			time.Sleep(w.draw())
			return nil
		}
	}
}

// locked is tasks that compute, half of it inside one lock. The lock is a channel:
// in a bubble, time stands still while a goroutine waits for a Mutex.
func locked(*rand.Rand) func(context.Context) error {
	const half = 50 * time.Microsecond
	s, lock := processors(2), make(chan struct{}, 1)
	return func(context.Context) error {
		s.serve(half)
		lock <- struct{}{}
		s.serve(half)
		<-lock
		return nil
	}
}

// errFull is what a server says that takes no more.
var errFull = errors.New("full")

// rejecting is k slots that turn away who finds them taken.
func rejecting(k int) func(*rand.Rand) func(context.Context) error {
	return func(*rand.Rand) func(context.Context) error {
		taken := make(chan struct{}, k)
		return func(context.Context) error {
			select {
			case taken <- struct{}{}:
				time.Sleep(5 * time.Millisecond)
				<-taken
				return nil
			default:
				time.Sleep(time.Millisecond)
				return errFull
			}
		}
	}
}

// servers is the rate of k of them, whatever the distribution and the order.
func servers(k int, mean float64) func(int) float64 {
	return func(limit int) float64 { return float64(min(limit, k)) / mean }
}

// repairman is the rate of tasks that need one of k servers for a time and are
// elsewhere for a time: the model of the machines and their repairmen. It is exact
// for servers that are shared out, whatever the distributions, and for those with a
// line if what they do is exponential.
func repairman(k int, mean, elsewhere float64) func(int) float64 {
	return func(limit int) float64 {
		weight, sum, busy := 1.0, 1.0, 0.0 // of no task at the servers, of all, times the servers that are busy
		for j := 1; j <= limit; j++ {
			weight *= float64(limit-j+1) / float64(min(j, k)) * mean / elsewhere
			sum += weight
			busy += weight * float64(min(j, k))
			weight, busy, sum = weight/sum, busy/sum, 1 // before they overflow
		}
		return busy / mean
	}
}

func rateLimit(rate, latency float64) func(int) float64 {
	return func(limit int) float64 { return min(rate, float64(limit)/latency) }
}

// scalability is the speed of a server that loses by contention and by coherence
// (N. J. Gunther). It does most for sqrt(0.97/0.0005) = 44 tasks.
func scalability(n int) float64 {
	others := float64(n - 1)
	return 1 / (1 + 0.03*others + 0.0005*others*float64(n))
}

func scalable(limit int) float64 { return float64(limit) / 5 * scalability(limit) }

// collapsing is the speed of a server with 20 slots which does less and less for
// more than 30 tasks.
func collapsing(n int) float64 {
	return min(1, 20/float64(n)) * min(1, 30/float64(n))
}

func cliff(limit int) float64 { return float64(limit) / 5 * collapsing(limit) }

// thirds is the mean over what is measured of a plant that changes twice.
func thirds(first, second, third float64) float64 {
	begin := 1 - 3*warmth
	return (begin*first + second + third) / (begin + 2)
}

func latencyStep(limit int) float64 {
	near, far := rateLimit(4, 5)(limit), rateLimit(4, 20)(limit)
	return thirds(near, far, near)
}

func capacityStep(limit int) float64 {
	all, few := servers(20, 5)(limit), servers(5, 5)(limit)
	return thirds(all, few, all)
}

func weatherRate(limit int) float64 {
	pace := 0.0
	for _, w := range weathers {
		pace += w / float64(len(weathers))
	}
	return pace * servers(20, 5)(limit)
}

// lockRate is one task at a time in the lock, and another before it.
func lockRate(limit int) float64 { return min(1, float64(limit)/2) / 0.05 }

// warmth is how much of a run is over when measuring begins.
const warmth = 0.25

// bins are parts of a run in which the tasks are counted.
const bins = 200

// A meter looks at the tasks of a run. Its means are over the time after the
// warm-up.
type meter struct {
	horizon time.Duration
	crowd   int            // more tasks than this at once are a crowd
	limiter *stint.Limiter // to be read, or nil

	mu           sync.Mutex
	inside, peak int
	at           time.Duration // when inside changed
	done, failed int           // after the warm-up
	per          [bins]int     // tasks done, in parts of the horizon
	tasks        float64       // inside, summed up over nanoseconds
	crowded      time.Duration
	limits       [2]int // the largest seen in the first half of the run and in the second
}

// measured is task with a look at how many there are.
func (m *meter) measured(task func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		m.change(1, nil)
		err := task(ctx)
		m.change(-1, err)
		return err
	}
}

// change is called when a task begins, and when it ends.
func (m *meter) change(by int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := min(sinceBubble(), m.horizon)
	warm := time.Duration(warmth * float64(m.horizon))
	past := max(0, now-max(m.at, warm))
	m.tasks += float64(m.inside) * float64(past)
	if m.inside > m.crowd {
		m.crowded += past
	}
	m.at = now
	m.inside += by
	m.peak = max(m.peak, m.inside)
	if by > 0 || now == m.horizon {
		return
	}
	m.note(now)
	switch {
	case err != nil && now >= warm:
		m.failed++
	case err == nil && now >= warm:
		m.done++
	}
	if err == nil {
		m.per[now*bins/m.horizon]++
	}
}

// note reads the limit.
func (m *meter) note(now time.Duration) {
	if m.limiter != nil {
		half := now * 2 / m.horizon
		m.limits[half] = max(m.limits[half], m.limiter.Stats().Limit)
	}
}

// rate is how many tasks were done a millisecond.
func (m *meter) rate() float64 {
	return float64(m.done) / ((1 - warmth) * m.horizon.Seconds() * 1000)
}

// mean is how many tasks there were at once.
func (m *meter) mean() float64 { return m.tasks / ((1 - warmth) * float64(m.horizon)) }

// failing is how many of the tasks that ended have failed.
func (m *meter) failing() float64 { return float64(m.failed) / float64(max(1, m.failed+m.done)) }

// crowding is how much of the time was a crowd.
func (m *meter) crowding() float64 {
	return float64(m.crowded) / ((1 - warmth) * float64(m.horizon))
}

// reaches returns how long after the time from three bins in a row had a rate.
func (m *meter) reaches(rate float64, from time.Duration) time.Duration {
	bin := m.horizon / bins
	for i := int(from / bin); i+3 <= bins; i++ {
		done := m.per[i] + m.per[i+1] + m.per[i+2]
		if float64(done) >= rate*3*bin.Seconds()*1000 {
			return max(0, time.Duration(i)*bin-from)
		}
	}
	return m.horizon
}

// A drive gives tasks to the library.
type drive = func(ctx context.Context, n int, f body, opts ...stint.Option) error

// pooled is a drive: tasks that are given to a pool of their own.
func pooled(ctx context.Context, n int, f body, opts ...stint.Option) error {
	p := stint.NewPool(opts...)
	for i := range n {
		if p.GoContext(ctx, func(ctx context.Context) { f(ctx, i) }) != nil {
			break
		}
	}
	_, err := p.Shutdown(ctx)
	return err
}

// looped is the usual drive.
func looped(ctx context.Context, n int, f body, opts ...stint.Option) error {
	return stint.Range(ctx, n, f, opts...)
}

// run drives a plant until the horizon of m with more items than it can do.
func (p plant) run(t *testing.T, seed int, m *meter, drive drive, opts ...stint.Option) {
	t.Helper()
	items := 20_000 + int(2*p.rate(p.best)*m.horizon.Seconds()*1000)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), m.horizon)
		defer cancel()
		task := m.measured(p.task(random(p.number, seed)))
		drive(ctx, items, func(ctx context.Context, _ int) error { return task(ctx) }, opts...)
		if end := sinceBubble(); end < m.horizon {
			t.Errorf("%s: the tasks ended after %v, want %v", p.name, end, m.horizon)
		}
	})
}

func random(number, seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(number), uint64(seed))) }

// fixed is what a plant gives at a fixed limit, of what the formula says. The
// horizon is as short as this allows.
func (p plant) fixed(t *testing.T, seed, limit int, drive drive) float64 {
	t.Helper()
	const enough = 3000 // tasks
	horizon := p.horizon
	if !p.whole {
		horizon = min(horizon, max(horizon/8, milliseconds(enough/p.rate(limit))))
	}
	m := &meter{horizon: horizon}
	p.run(t, seed, m, drive, stint.Limit(limit))
	equal(t, p.name+": most tasks at once", m.peak, limit)
	return m.rate() / p.rate(limit)
}

// The plants give at each limit what the formula says: too few tasks at once get
// less out of them, more than the best limit no more.
func TestPlantsGiveWhatIsKnown(t *testing.T) {
	for _, p := range plants {
		for seed := range 2 {
			if p.whole && seed > 0 {
				break
			}
			for _, limit := range []int{(p.best + 3) / 4, p.best, min(4*p.best, 256)} {
				if is := p.fixed(t, seed, limit, looped); is < 0.97 || is > 1.03 {
					t.Errorf("%s, seed %d: at limit %d %.3f of the %.3g tasks a millisecond that are known", p.name, seed, limit, is, p.rate(limit))
				}
			}
		}
	}
}

// What a meter says of tasks that are all alike is exact.
func TestMeter(t *testing.T) {
	p := plant{name: "alike", best: 8, rate: servers(8, 10), task: sleeping(alike, 10)}
	for crowd, crowding := range map[int]float64{7: 1, 8: 0} {
		m := &meter{horizon: time.Second, crowd: crowd}
		p.run(t, 1, m, looped, stint.Limit(8))
		equal(t, "tasks a millisecond", m.rate(), 0.8)
		equal(t, "tasks at once", m.mean(), 8)
		equal(t, "crowding", m.crowding(), crowding)
		equal(t, "a rate that there is", m.reaches(0.5, 0), 0)
		equal(t, "a rate that there never is", m.reaches(2, 0), m.horizon)
	}
}

// The limits that are said to be best are, by the formula; a quarter of them is far
// too small, and 256 only harms where it is said.
func TestPlantsHaveABestLimit(t *testing.T) {
	harmed := map[string]bool{"universal scalability": true, "cliff": true}
	for _, p := range plants {
		most := 0.0
		for limit := range 256 {
			most = max(most, p.rate(limit+1))
		}
		smallest := 1
		for p.rate(smallest) < 0.97*most {
			smallest++
		}
		equal(t, p.name+": best limit", p.best, smallest)
		if little := p.rate((p.best+3)/4) / most; little > 0.75 {
			t.Errorf("%s: a quarter of the best limit gives %.2f", p.name, little)
		}
		equal(t, p.name+": harmed by 256", p.rate(256) < 0.5*most, harmed[p.name])
	}
}

// drives are the doors, with the Pool, but for that of MapSeq, where a slow task
// holds up those behind it: they are yielded in order.
func drives() []door {
	all := []door{{"Pool", pooled}}
	for _, d := range doors {
		if d.name != "MapSeq" {
			all = append(all, d)
		}
	}
	return all
}

// A plant gives the same through every door.
func TestPlantThroughEveryDoor(t *testing.T) {
	p := twentySlots()
	for _, d := range drives() {
		if is := p.fixed(t, 1, p.best, d.run); is < 0.97 || is > 1.03 {
			t.Errorf("%s: %.3f of the rate that is known", d.name, is)
		}
	}
}

// twentySlots is the plant of that name.
func twentySlots() plant {
	return plants[slices.IndexFunc(plants, func(p plant) bool { return p.name == "20 slots" })]
}

// A batch is a few tasks, which end before anything can be learnt from many.
type batch struct {
	number int
	name   string
	n      int
	best   int           // the limit that takes
	took   time.Duration // this long
	task   func(r *rand.Rand) func(context.Context) error
}

var batches = []batch{
	{13, "100 of 0 to 9 ms", 100, 100, 8955 * time.Microsecond, sleeping(uniform, 4.5)},
	{15, "100 on 20 slots", 100, 20, 25 * time.Millisecond, slots(20, alike, 5, nil)},
	{16, "100 of 100 ms", 100, 100, 100 * time.Millisecond, sleeping(alike, 100)},
	{16, "200 of 10 s", 200, 200, 10 * time.Second, sleeping(alike, 10_000)},
}

// run returns how long a batch takes.
func (b batch) run(t *testing.T, seed int, drive drive, opts ...stint.Option) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int64
		task := b.task(random(b.number, seed))
		err := drive(context.Background(), b.n, func(ctx context.Context, _ int) error {
			defer ended.Add(1)
			return task(ctx)
		}, opts...)
		took = sinceBubble()
		equal(t, b.name+": error", err, nil)
		equal(t, b.name+": tasks", ended.Load(), int64(b.n))
	})
	return took
}

// Batches take the time that is known at the best limit, and many times that at a
// small one.
func TestBatchesTakeWhatIsKnown(t *testing.T) {
	for _, b := range batches {
		for seed := range 4 {
			equal(t, b.name, b.run(t, seed, looped, stint.Limit(b.best)), b.took)
			if took := b.run(t, seed, looped, stint.Limit(2)); took < 10*b.took {
				t.Errorf("%s: %v at limit 2", b.name, took)
			}
		}
	}
}

// 27: a server that turns tasks away. More than it takes are errors, which end
// sooner than what is done: a limiter that counts them finds them a success.
func rejected(t *testing.T, seed int, m *meter, opts ...stint.Option) {
	t.Helper()
	p := plant{number: 27, name: "rejecting", best: 20, rate: servers(20, 5), task: rejecting(20)}
	p.run(t, seed, m, looped, append(opts, stint.KeepGoing())...)
}

func TestRejectingPlant(t *testing.T) {
	for limit, want := range map[int]struct{ rate, failed float64 }{5: {1, 0}, 20: {4, 0}, 24: {4, 0.5}} {
		m := &meter{horizon: 400 * time.Millisecond}
		rejected(t, 1, m, stint.Limit(limit))
		if is := m.rate() / want.rate; is < 0.95 || is > 1.03 {
			t.Errorf("limit %d: %.3f of %v tasks a millisecond", limit, is, want.rate)
		}
		equal(t, "turned away at limit "+strconv.Itoa(limit), m.failing() >= want.failed, true)
		equal(t, "none turned away at limit "+strconv.Itoa(limit), m.failing() == 0, want.failed == 0)
	}
}

// 22: bursts of 50 tasks for 20 slots, which could do twice as many. They are
// waiting for a while in each burst, and there is nothing to do in between.
func burst(t *testing.T, m *meter, l *stint.Limiter) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(l, stint.Queue(10_000))
		defer p.Close()
		task := m.measured(slots(20, alike, 5, nil)(random(22, 1)))
		for sinceBubble() < m.horizon {
			for range 50 {
				p.Go(func(ctx context.Context) { task(ctx) })
			}
			time.Sleep(25 * time.Millisecond)
		}
	})
}

func TestBurstsOnAPlant(t *testing.T) {
	for limit, want := range map[int]float64{5: 1, 20: 2, 80: 2} {
		m := &meter{horizon: 2 * time.Second}
		burst(t, m, stint.Limit(limit))
		equal(t, "tasks a millisecond at limit "+strconv.Itoa(limit), m.rate(), want)
	}
}

// 25: each task waits until the one 64 later has begun. chained returns how far they
// came in 10 s.
func chained(t *testing.T, drive drive, opts ...stint.Option) (ended int) {
	t.Helper()
	const n, depth = 500, 64
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		begun := make([]chan struct{}, n+depth)
		for i := range begun {
			begun[i] = make(chan struct{})
			if i >= n {
				close(begun[i])
			}
		}
		var done atomic.Int64
		drive(ctx, n, func(ctx context.Context, i int) error {
			close(begun[i])
			select {
			case <-begun[i+depth]:
				done.Add(1)
			case <-ctx.Done():
			}
			return nil
		}, opts...)
		ended = int(done.Load())
	})
	return ended
}

func TestChainedPlant(t *testing.T) {
	equal(t, "tasks done at limit 65", chained(t, looped, stint.Limit(65)), 500)
	equal(t, "tasks done at limit 64", chained(t, looped, stint.Limit(64)), 0)
}
