package stint_test

import (
	"container/heap"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// A plant is what tasks use: a server, processors, a lock, or nothing but time.
// What can be got out of it at each limit is known from queueing theory, so that
// what a controller finds can be compared with it. Plants run in virtual time.
// Those that need real processors are in the laboratory.
type plant struct {
	number  int // of its kind, which marks know it by; the same as in internal/auto
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

// most is the rate of a plant at the limit, up to 256, that gives most.
func (p plant) most() float64 {
	most := 0.0
	for limit := range 256 {
		most = max(most, p.rate(limit+1))
	}
	return most
}

// The limits that are said to be best are, by the formula; a quarter of them is far
// too small, and 256 only harms where it is said.
func TestPlantsHaveABestLimit(t *testing.T) {
	harmed := map[string]bool{"universal scalability": true, "cliff": true}
	for _, p := range plants {
		most := p.most()
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
