package gateway

import (
	"context"
	"errors"
	"github.com/stint-go/stint"
	"net/http"
)

// handler stands in for httplimit.Handler.
func handler(next http.Handler, limit *stint.Limiter, waiting int) http.Handler {
	places := stint.Limit(waiting)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := func(context.Context) error { next.ServeHTTP(w, r); return nil }
		if err := limit.TryDo(r.Context(), serve); !errors.Is(err, stint.ErrBusy) {
			return
		}
		admitted := make(chan struct{})
		done := make(chan error, 1)
		err := places.TryDo(r.Context(), func(ctx context.Context) error {
			go func() {
				done <- limit.Do(r.Context(), func(ctx context.Context) error { close(admitted); return serve(ctx) })
			}()
			select {
			case <-admitted:
			case <-r.Context().Done():
			}
			return nil
		})
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		<-done
	})
}
