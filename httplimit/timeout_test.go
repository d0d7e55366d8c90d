package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// A TimeoutHandler inside returns before the handler in it does, and the permit goes to the
// next request meanwhile: more run than the limit. One outside leaves the limit exact.
func TestHandlerAndTimeoutHandler(t *testing.T) {
	type wrap = func(http.Handler, *stint.Limiter) http.Handler
	limit := func(h http.Handler, l *stint.Limiter) http.Handler { return httplimit.Handler(h, l, 5) }
	timeout := func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Second, "") }
	for want, h := range map[int]wrap{
		3: func(h http.Handler, l *stint.Limiter) http.Handler { return limit(timeout(h), l) },
		1: func(h http.Handler, l *stint.Limiter) http.Handler { return timeout(limit(h, l)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var g testkit.Gauge
			l := stint.Limit(1)
			served := h(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { g.Hold(time.Minute) }), l)
			var clients sync.WaitGroup
			for range 3 {
				clients.Go(func() {
					w := httptest.NewRecorder()
					served.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
					testkit.Equal(t, "status", w.Code, http.StatusServiceUnavailable)
				})
			}
			clients.Wait()
			testkit.Equal(t, "handlers at once", g.Max(), want)
			if want == 1 { // the two that waited have left, the first has the permit until it returns
				synctest.Wait()
				testkit.Equal(t, "time passed", testkit.SinceBubble(), time.Second)
				testkit.Equal(t, "requests that wait", l.Stats().Waiting, 0)
				testkit.Equal(t, "permits held", l.Stats().Running, 1)
			}
			time.Sleep(time.Minute)
		})
	}
}
