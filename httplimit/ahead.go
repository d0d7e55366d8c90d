package httplimit

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// maxAhead is the largest body that is read before its request waits. It bounds the memory of
// requests that wait.
const maxAhead = 64 << 10

// readAhead reads the body of r, which is about to wait, and makes r.Body yield it again.
// net/http watches the connection of HTTP/1 only when the body has been read, so until then
// the context does not end when the client has gone. A body is left alone if it is larger than
// maxAhead, or if its client may wait for an answer before it sends it.
func readAhead(r *http.Request) {
	length := r.ContentLength
	if r.ProtoMajor != 1 || length <= 0 || length > maxAhead || r.Body == nil || r.Header.Get("Expect") != "" {
		return
	}
	data := bytes.NewBuffer(make([]byte, 0, length+1+bytes.MinRead)) // as large as it gets
	io.CopyN(data, r.Body, length+1)                                 // one more: to see the end
	r.Body = &ahead{data: data.Bytes(), rest: r.Body}
}

// An ahead is a body of which a part has been read. What ended that, the end or an error, is
// read again from the rest.
type ahead struct {
	mu   sync.Mutex // Read and Close may be concurrent, as those of net/http
	data []byte     // what was read
	rest io.ReadCloser
}

func (a *ahead) Read(p []byte) (int, error) {
	if n := a.take(p); n > 0 || len(p) == 0 {
		return n, nil
	}
	return a.rest.Read(p)
}

// take moves data to p.
func (a *ahead) take(p []byte) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := copy(p, a.data)
	if a.data = a.data[n:]; len(a.data) == 0 {
		a.data = nil // its memory is free
	}
	return n
}

func (a *ahead) Close() error {
	a.mu.Lock()
	a.data = nil
	a.mu.Unlock()
	return a.rest.Close()
}
