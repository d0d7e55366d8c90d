package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
)

func Example() {
	http.DefaultTransport.(*http.Transport).RegisterProtocol("page", pages{})
	os.Args = []string{"start", "page://a", "page://example"}
	main()
	// Output:
	// 1 page://a
	// 7 page://example
}

// pages answers with the name of the host.
type pages struct{}

func (pages) RoundTrip(r *http.Request) (*http.Response, error) {
	page := httptest.NewRecorder()
	fmt.Fprint(page, r.URL.Host)
	return page.Result(), nil
}
