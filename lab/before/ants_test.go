package before_test

import (
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"
)

// Mails that nobody waits for. Excess mails are refused, a panic is logged, and
// running tasks have ten seconds at the end.
func Example_ants() {
	workers, err := ants.NewPool(8, ants.WithNonblocking(true),
		ants.WithPanicHandler(func(v any) { log.Print(v) }))
	if err != nil {
		log.Fatal(err)
	}
	var sent atomic.Int32
	for _, to := range []string{"ann", "bob", "cem"} {
		err := workers.Submit(func() {
			sent.Add(1) // simulates sending
		})
		if err != nil {
			fmt.Println(to, err) // busy, or released
		}
	}
	err = workers.ReleaseTimeout(10 * time.Second)
	fmt.Println(sent.Load(), "sent", err)
	// Output: 3 sent <nil>
}
