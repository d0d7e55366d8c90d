package loops

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
)

// BenchmarkSeries has items of 2 ns: at which lengths is package par slower than a plain
// loop? Run it also with -cpu 1.
func BenchmarkSeries(b *testing.B) {
	loops := []engine.Loop{engine.PlainEach(), engine.ParEach(), engine.PlainRange(), engine.ParRange()}
	for n := 1; n <= 10_000_000; n *= 10 {
		for _, model := range mixed(n, loops)() {
			b.Run(fmt.Sprintf("n=%d/%s", n, model.Name), func(b *testing.B) {
				m := measure.Meter{N: b.N}
				if err := model.Run(&m); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(m.Sample()[measure.Time], "ns/op") // without the check
			})
		}
	}
}

// BenchmarkCold has loops that each follow 2 ms without work, so that sleeping processors
// must be woken. The pause is not timed.
func BenchmarkCold(b *testing.B) {
	steps := load.Steps(100 * time.Nanosecond)
	body := engine.BodyOf(func(int) { runtime.KeepAlive(load.Spin(steps)) })
	for _, n := range []int{500, 5000, 50_000} {
		for _, l := range []engine.Loop{engine.Plain(), engine.Static(), engine.Range(), engine.ParEach(), engine.ParRange()} {
			b.Run(fmt.Sprintf("n=%d/%s", n, l.Name), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					time.Sleep(2 * time.Millisecond)
					b.StartTimer()
					l.Run(n, 0, body)
				}
			})
		}
	}
}
