package debug_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
)

// A pool is shown under a path of a server.
func Example() {
	server := stint.Auto(1, 100)
	mail := stint.NewPool(server)
	defer mail.Close()

	state := new(debug.Handler) // github.com/stint-go/stint/debug
	state.AddPool("mail", mail)
	state.AddLimiter("mail", server)
	mux := http.NewServeMux()
	mux.Handle("/debug/stint", state) // while http.ListenAndServe("localhost:8080", mux) runs: curl localhost:8080/debug/stint
	// Output:
}

// The text that curl prints.
func ExampleHandler() {
	thumbnails := stint.NewPool(stint.Limit(8))
	for range 3 {
		thumbnails.Go(func(context.Context) {})
	}
	thumbnails.Close()

	state := new(debug.Handler)
	state.AddPool("thumbnails", thumbnails)
	state.AddLimiter("database", stint.Limit(20))

	mux := http.NewServeMux()
	mux.Handle("/debug/stint", state)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest("GET", "/debug/stint", nil))
	fmt.Print(answer.Body)
	// Output:
	// POOL        LIMIT  RUNNING  QUEUED  WAITING  WORKERS  IDLE  COMPLETED  FAILED  DROPPED  REFUSED  TASKS/S  LIMITER
	// thumbnails  8      0        0       0        0        0     3          0       0        0        -        -
	//
	// LIMITER   LIMIT  RUNNING  WAITING  COMPLETED  FAILED  WAITED  REFUSED  BACKOFFS  TASKS/S  PHASE  REASON
	// database  20     0        0        0          0       0       0        0         -        fixed  -
}
