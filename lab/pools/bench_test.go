// Package pools measures the models of the series on pipelines, fans and pools under their author's names, so that its
// command lines work here, and beside them stint and other libraries:
//
//	GOGC=off go test -cpu 1,8 -run none -bench CPU -benchtime 3s
//
// An op is a whole list. The article makes the list in each op, which is no model's work; here it is made before. With
// -cpus=28 the models have the goroutines of a machine of 28 CPUs, which the author's figures fit.
package pools

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
)

var (
	long  = flag.Int("long", 1_000_000, "numbers in the list of the models that compute")
	short = flag.Int("items", 100, "numbers in the list of the pools and of the models that wait")
	cpus  = flag.Int("cpus", 0, "take the machine for one with so many CPUs; 0: as many as it has")
)

const buffer = 1000

func TestMain(m *testing.M) { bench.Main(m) }

func BenchmarkCPUSequential(b *testing.B)     { many(b, models.Sequential) }
func BenchmarkCPUPipeline(b *testing.B)       { many(b, models.Pipeline(0)) }
func BenchmarkCPUPipelineBuffer(b *testing.B) { many(b, models.Pipeline(buffer)) }
func BenchmarkCPUFan(b *testing.B)            { many(b, models.Fan(fan(), 0)) }
func BenchmarkCPUFanBuffer(b *testing.B)      { many(b, models.Fan(fan(), buffer)) }
func BenchmarkCPUParallelize(b *testing.B)    { many(b, models.Parallelize(all())) }
func BenchmarkCPUPool(b *testing.B)           { few(b, models.Pool(all())) }
func BenchmarkCPUPoolMin(b *testing.B)        { few(b, models.Pool(half())) }
func BenchmarkCPUPoolMax(b *testing.B)        { few(b, models.Pool(10*all())) }

func BenchmarkIOSequential(b *testing.B)     { wait(b, models.Sequential) }
func BenchmarkIOPipeline(b *testing.B)       { wait(b, models.Pipeline(0)) }
func BenchmarkIOPipelineBuffer(b *testing.B) { wait(b, models.Pipeline(buffer)) }
func BenchmarkIOFan(b *testing.B)            { wait(b, models.Fan(fan(), 0)) }
func BenchmarkIOFanBuffer(b *testing.B)      { wait(b, models.Fan(fan(), buffer)) }
func BenchmarkIOParallelize(b *testing.B)    { wait(b, models.Parallelize(all())) }
func BenchmarkIOPool(b *testing.B)           { wait(b, models.Pool(all())) }
func BenchmarkIOPoolMin(b *testing.B)        { wait(b, models.Pool(half())) }
func BenchmarkIOPoolMax(b *testing.B)        { wait(b, models.Pool(10*all())) }

func all() int  { return cmp.Or(*cpus, runtime.NumCPU()) }
func half() int { return max(1, all()/2) }
func fan() int  { return max(2, half()) } // a fan of one worker would be a pipeline

// BenchmarkCPU is the long list, by libraries, and BenchmarkFewCPU one so short that a loop is best.
func BenchmarkCPU(b *testing.B)    { models.Each(b, "model=", models.Computing(all()), many) }
func BenchmarkFewCPU(b *testing.B) { models.Each(b, "model=", models.Computing(all()), few) }

// BenchmarkIO gives the libraries the limit of the author's largest pool.
func BenchmarkIO(b *testing.B) {
	models.Each(b, "model=", append(models.Libraries(10*all()), models.Named{Name: "balanced", Model: models.Balanced(all())}), wait)
}

// BenchmarkCPUWorkers and BenchmarkIOWorkers are the author's pool with 1 to 512 workers.
func BenchmarkCPUWorkers(b *testing.B) { workers(b, few) }
func BenchmarkIOWorkers(b *testing.B)  { workers(b, wait) }

// BenchmarkStages is a list that passes through two stages. Both wait, as for a disk and a network, or both compute.
func BenchmarkStages(b *testing.B) {
	pause := func(x float64) float64 { time.Sleep(2 * time.Millisecond); return x }
	models.Each(b, "work=waits/model=", models.Stages(pause), func(b *testing.B, m models.Model) {
		check(b, min(*short, 20), key, func(x float64) uint64 { return key(pause(x)) }, m)
	})
	first := func(x float64) float64 { return max(x, -float64(power(x))) } // x
	models.Each(b, "work=computes/model=", models.Stages(first), many)
}

func workers(b *testing.B, measure func(*testing.B, models.Model)) {
	for n := 1; n <= 512; n *= 2 {
		b.Run(fmt.Sprintf("workers=%d", n), func(b *testing.B) { measure(b, models.Pool(n)) })
	}
}

func many(b *testing.B, m models.Model) { check(b, bench.Short(*long, 10_000), power, power, m) }
func few(b *testing.B, m models.Model)  { check(b, bench.Short(*short, 10_000), power, power, m) }

func wait(b *testing.B, m models.Model) {
	n, unit := bench.Short(*short, 20), bench.Short(time.Millisecond, time.Millisecond/100)
	random := rand.New(rand.NewPCG(7, 8)) // the same waits for all models
	units := make([]uint64, n)
	for i := range units {
		units[i] = random.Uint64N(10)
	}
	result := func(x float64) uint64 { return units[int(x)] * key(x) }
	var g bench.Gauge
	check(b, n, result, func(x float64) uint64 {
		g.Enter()
		defer g.Leave()
		time.Sleep(time.Duration(units[int(x)]) * unit)
		return result(x)
	}, m)
	g.Report(b)
}

// check measures a model of f for the numbers below n, which must give the sum of result.
func check(b *testing.B, n int, result, f models.Item, m models.Model) {
	list := models.Indexes(n)
	bench.Scheduled(b, models.Sequential(list, result), func() uint64 { return m(list, f) })
}

// power is the author's work for a number. Its bits are added up, with a key: the powers themselves soon are infinite,
// and their sum would show nothing.
func power(x float64) uint64 { return math.Float64bits(math.Pow(3.1415926, x)) + key(x) }

// key differs for each number, so that a sum shows a number that is missing or there twice.
func key(x float64) uint64 { return uint64(x+1) * 0x9e3779b97f4a7c15 }
