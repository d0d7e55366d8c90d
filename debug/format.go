package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A format is one in which a snapshot is written.
type format struct {
	name  string // as the parameter format has it
	media string // as the header Accept has it
	write func(h *Handler, body *bytes.Buffer, header http.Header) error
}

// formats are those there are. The last one is for a request that prefers none.
var formats = []format{
	{"html", "text/html", func(h *Handler, body *bytes.Buffer, header http.Header) error {
		return h.page.write(body, header, h.snapshot())
	}},
	{"json", "application/json", func(h *Handler, body *bytes.Buffer, _ http.Header) error {
		e := json.NewEncoder(body)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(h.snapshot())
	}},
	{"text", "text/plain", func(h *Handler, body *bytes.Buffer, _ http.Header) error {
		h.snapshot().text(body)
		return nil
	}},
}

// wanted is the format that a request asks for.
func wanted(r *http.Request) (format, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return format{}, fmt.Errorf("the parameters cannot be read: %w", err)
	}
	if !values.Has("format") {
		return accepted(r.Header.Values("Accept")), nil
	}
	name := values.Get("format")
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("unknown format %q: want html, json or text", name)
}

// accepted is the format that Accept likes best, the first of several; or the last of
// ours if it likes none.
func accepted(header []string) format {
	best, most := formats[len(formats)-1], 0.0
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		liking := 1.0
		if q, ok := params["q"]; ok {
			liking, _ = strconv.ParseFloat(q, 64) // one that is no number likes nothing
		}
		for _, f := range formats {
			if (f.media == media || media == "*/*" && f.name == "text") && liking > most {
				best, most = f, liking
			}
		}
	}
	return best
}
