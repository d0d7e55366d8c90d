package httplimit

import (
	"bytes"
	"io"
	"net/http"
	"strings"
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
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(data, r.Body), r.Body} // the end, or an error, comes again
}

// copyBack sets what handlers and net/http look for after next, which got a copy of r: the
// form whose files net/http removes, the pattern, and the values of its wildcards. What is
// the same is not written, since another goroutine may read it.
func copyBack(r, inner *http.Request) {
	if r.MultipartForm != inner.MultipartForm {
		r.MultipartForm = inner.MultipartForm
	}
	if r.Pattern == inner.Pattern {
		return
	}
	r.Pattern = inner.Pattern
	for segment := range strings.SplitSeq(r.Pattern, "/") {
		name, opened := strings.CutPrefix(segment, "{")
		name, closed := strings.CutSuffix(name, "}")
		name = strings.TrimSuffix(name, "...")
		if value := inner.PathValue(name); opened && closed && value != "" {
			r.SetPathValue(name, value)
		}
	}
}
