package cluster

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// texts are of every kind that JSON, a terminal or a line may change.
var texts = []string{
	"", "plain", "\xff", "a\xffb", "\xed\xa0\x80", "\xc3", "\x00", "\x1b[31m", "two\nlines", "\u2028<&>", "\ufffd", `\ufffd`, `\\ufffd`, "\ufffd\xff", "\U0001F600", `{"bytes":"eA=="}`,
}

type (
	label  string
	marked string             // a TextMarshaler
	read   string             // a TextUnmarshaler
	named  struct{ A string } // a Marshaler, by its fields
	quoted struct{ A string } // a Marshaler that does not check the text
	shape  struct {
		A string
		B struct{ C []string }
		D map[string]*string
		E any
		F *label
		G string `json:",string"`
		embedded
	}
	embedded struct{ H string }
)

func (m marked) MarshalText() ([]byte, error) { return []byte("m" + m), nil }

func (r *read) UnmarshalText(data []byte) error {
	*r = read(data)
	return nil
}

func (n named) MarshalJSON() ([]byte, error) {
	type fields named
	return json.Marshal(fields(n))
}

func (q quoted) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(q.A)
	return []byte(`{"A":` + strings.ReplaceAll(string(data), `\ufffd`, "\xff") + "}"), err
}

// through encodes a value and decodes it again.
func through[T any](v T) (T, error) {
	var got T
	data, err := encode(v)
	if err == nil {
		err = decode(data, &got)
	}
	return got, err
}

// same checks that v is the same value afterwards, or, if it may not be, that it is refused.
func same[T any](t *testing.T, v T, text string, refusable bool) {
	t.Helper()
	got, err := through(v)
	if refusable && !utf8.ValidString(text) {
		if err == nil || !strings.Contains(err.Error(), "is not UTF-8") {
			t.Errorf("%T with %q: got %#v, %v; want an error", v, text, got, err)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Errorf("%T with %q: got %#v, %v", v, text, got, err)
	}
}

// No text becomes another one.
func TestTextsAreKeptOrRefused(t *testing.T) {
	for _, s := range texts {
		same(t, s, s, false)
		same(t, label(s), s, false)
		same[any](t, s, s, false)
		same(t, Text(s), s, false)
		same(t, struct{ A []Text }{[]Text{"x", Text(s)}}, s, false)
		same(t, []byte(s), s, false)
		same(t, [][]byte{[]byte(s)}, s, false)

		same(t, []string{"x", s}, s, true)
		same(t, &s, s, true)
		same(t, map[string]int{s: 1}, s, true)
		same(t, shape{A: s}, s, true)
		same(t, shape{B: struct{ C []string }{[]string{s}}}, s, true)
		same(t, shape{D: map[string]*string{"x": &s}}, s, true)
		same(t, shape{E: []any{1.0, s}}, s, true)
		same(t, shape{F: (*label)(&s)}, s, true)
		same(t, shape{G: s}, s, true)
		same(t, shape{embedded: embedded{s}}, s, true)
		same(t, map[Text]int{Text(s): 1}, s, true)
		same(t, map[Text]int{"\xfe": 1, Text("\xff" + s): 1}, "\xff", true) // would be one key
		same(t, map[marked]int{marked(s): 1}, s, true)
		same(t, read(s), s, true)
		same(t, []named{{s}}, s, true)
		if !strings.Contains(s, `\ufffd`) {
			same(t, []quoted{{s}}, s, true)
		}
	}
}

// What encodes itself, or is not encoded, is not refused for an escape that is its own.
func TestOwnEscapes(t *testing.T) {
	same(t, json.RawMessage(`"a\ufffd"`), "", false)
	same(t, json.RawMessage("\"a\xff\""), "", false)
	type timed struct {
		When encoding.TextMarshaler
		Path string
	}
	for _, s := range []string{"C:\\ufffd", "\ufffd"} {
		same(t, timed{nil, s}, s, false)
		same(t, &timed{nil, s}, s, false)
		same(t, map[string]encoding.TextMarshaler{s: nil}, s, false)
		same(t, struct {
			A []encoding.TextMarshaler
			B string
		}{[]encoding.TextMarshaler{nil}, s}, s, false)
		if _, err := encode(timed{marked("x"), s}); err != nil {
			t.Errorf("%q beside an interface: %v", s, err)
		}
	}
	same(t, struct{ A json.RawMessage }{json.RawMessage(`"a\ufffd"`)}, "", false)
	type hidden struct {
		A string
		B string `json:"-"`
		c string
		label
	}
	if got, err := through(hidden{`\ufffd`, "\xff", "\xff", "\xff"}); got != (hidden{A: `\ufffd`}) || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := encode([]marked{"\xff"}); err == nil {
		t.Error("the text of a TextMarshaler was changed")
	}
	if _, err := encode(marked("\xff")); err == nil {
		t.Error("the text of a TextMarshaler was changed")
	}
}

// An object is a Text only if it has bytes, and a string is one whatever JSON escapes.
func TestTextOfJSON(t *testing.T) {
	for data, want := range map[string]string{
		`"a\u00e4\n\"\\"`: "a\u00e4\n\"\\", `"\u00e4"`: "\u00e4", `{"bytes":"/w=="}`: "\xff", `null`: "", `""`: "",
		`{}`: "error", `{"foo":1}`: "error", `{"bytes":null}`: "error", `1`: "error", `["a"]`: "error",
	} {
		var got Text
		err := json.Unmarshal([]byte(data), &got)
		if err != nil && got == "" {
			got = "error"
		}
		if string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", data, got, err, want)
		}
	}
}

// A failure has the bytes of its texts, even those of a cut one, up to the cut.
func TestFailureKeepsBytes(t *testing.T) {
	for _, s := range texts {
		sentinel := errors.New("s" + s)
		k := &kind{sentinels: []error{sentinel}}
		data, err := json.Marshal(k.failure(outcome{err: sentinel}))
		o := k.outcome(map[string][]string{own: {failed}}, data)
		if err != nil || o.err.Error() != "s"+s || !errors.Is(o.err, sentinel) {
			t.Errorf("%q: %v, %q", s, err, o.err)
		}
	}
	for text, want := range map[Text]Text{"\xff\xff\xff": "\xff\xff", "aä": "a", "\xffa\xff": "\xffa", "\x80\x80\x80": "", "ab": "ab"} {
		got := truncate(text, 2)
		if cut := strings.TrimSuffix(string(got), " ... (cut)"); cut != string(want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
