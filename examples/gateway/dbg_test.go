package main
import ("testing";"testing/synctest";"time";"fmt";"os";"github.com/stint-go/stint")
func TestDbg(t *testing.T){
 for _, mk := range []struct{n string; l func() *stint.Limiter}{
 {"none", func() *stint.Limiter { return nil }},
 {"20", func() *stint.Limiter { return stint.Limit(20) }},
 {"1-256", func() *stint.Limiter { return stint.Auto(1,256) }},
 {"1-256 b4", func() *stint.Limiter { return stint.Auto(1,256,stint.Burst(4)) }},
 {"1-64", func() *stint.Limiter { return stint.Auto(1,64) }},
 {"1-100 b12", func() *stint.Limiter { return stint.Auto(1,100,stint.Burst(12)) }},
 {"1-100 b1", func() *stint.Limiter { return stint.Auto(1,100,stint.Burst(1)) }},
 }{
 synctest.Test(t, func(t *testing.T) {
 tr := trial{capacity: 20, service: 50 * time.Millisecond, patience: time.Second, rate: 800, waiting: 40, warmup: 5*time.Second, length: 30*time.Second}
 l := mk.l()
 b := time.Now()
 c, err := tr.run(t.Context(), new(memory).network(), l)
 fmt.Println(mk.n, len(c.served), c.refused, c.lost, c.quantile(0.5), c.quantile(0.99), err)
 if l != nil && os.Getenv("H") != "" {
 for _, h := range l.Stats().History { fmt.Println(h.Time.Sub(b).Round(time.Millisecond), h.Limit, int(h.Throughput), h.Reason) }
 }
 })
 }
}
