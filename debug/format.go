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

// A format writes a snapshot.
type format struct {
	name  string // in the query parameter format
	media string // in the header Accept, and of the answer
	write func(h *Handler, body *bytes.Buffer, header http.Header) error
}

// formats are all formats. The last one is the default.
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
	{"prometheus", "text/plain; version=0.0.4", func(h *Handler, body *bytes.Buffer, _ http.Header) error {
		h.snapshot().prometheus(body)
		return nil
	}},
	{"text", "text/plain", func(h *Handler, body *bytes.Buffer, _ http.Header) error {
		h.snapshot().text(body)
		return nil
	}},
}

// requested returns the format that a request asks for.
func requested(r *http.Request) (format, error) {
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
	return format{}, fmt.Errorf("unknown format %q: want html, json, text or prometheus", name)
}

// accepted returns the format that the header Accept prefers, the first of several, or the
// default.
func accepted(header []string) format {
	best, highest := formats[len(formats)-1], 0.0
	for part := range strings.SplitSeq(strings.Join(header, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, ok := params["q"]; ok {
			quality, _ = strconv.ParseFloat(q, 64) // 0 if it is not a number
		}
		for _, f := range formats {
			if f.name == formatOf(media, params) && quality > highest {
				best, highest = f, quality
			}
		}
	}
	return best
}

// formatOf returns the name of the format for a media type of the header Accept. Prometheus
// asks for a version of text/plain, or for OpenMetrics and accepts text/plain instead.
func formatOf(media string, params map[string]string) string {
	switch media {
	case "text/html":
		return "html"
	case "application/json":
		return "json"
	case "application/openmetrics-text":
		return "prometheus"
	case "text/plain":
		if params["version"] != "" {
			return "prometheus"
		}
		return "text"
	case "*/*":
		return "text"
	}
	return ""
}
