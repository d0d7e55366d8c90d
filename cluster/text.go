package cluster

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a string for fields of items and results that may have any bytes, such as the name of
// a file on Linux. encoding/json replaces bytes that are not UTF-8; Text keeps them. A Text is
// encoded as a JSON string or, if it is not UTF-8, as {"bytes":"..."} in base64. As the key of
// a map a Text is encoded as a string, since encoding/json does not call its methods there.
type Text string

// textBytes is a Text that is not UTF-8.
type textBytes struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	switch {
	case !utf8.ValidString(string(t)):
		return json.Marshal(textBytes{[]byte(t)})
	case strings.ContainsFunc(string(t), func(c rune) bool { return c < ' ' || c == '"' || c == '\\' }):
		return json.Marshal(string(t))
	}
	return []byte(`"` + string(t) + `"`), nil // the usual case, without encoding
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("{")):
		var b textBytes
		if err := json.Unmarshal(data, &b); err != nil {
			return err
		}
		if b.Bytes == nil {
			return errors.New("cluster: the object is no Text: it has no bytes")
		}
		*t = Text(b.Bytes)
		return nil
	case len(data) > 1 && data[0] == '"' && bytes.IndexByte(data, '\\') < 0: // the usual case, without decoding
		*t = Text(data[1 : len(data)-1])
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// rawText begins the encoding of a string that is not UTF-8, as no JSON does.
const rawText = 0xff

// encode is the default of Codec: JSON, and rawText with the bytes of a string that is not
// UTF-8. In other values it refuses such strings.
func encode(v any) ([]byte, error) {
	if r := reflect.ValueOf(v); r.Kind() == reflect.String && !utf8.ValidString(r.String()) && isString(r.Type()) {
		return append([]byte{rawText}, r.String()...), nil
	}
	data, err := json.Marshal(v)
	if n := replaced(data); n > 0 { // or v has such JSON, or a text that looks so: then the decoded value has it too
		back := reflect.New(reflect.TypeOf(v)).Interface()
		if json.Unmarshal(data, back) != nil { // it has an interface: the receiver's type is another one
			back = new(any)
			_ = json.Unmarshal(data, back)
		}
		again, err := json.Marshal(reflect.ValueOf(back).Elem().Interface())
		if err != nil {
			return nil, err
		}
		if replaced(again) < n {
			return nil, notUTF8(data, again)
		}
	}
	return data, err
}

// replacement is what JSON has for a byte that is not UTF-8. U+FFFD itself is not escaped.
const replacement = `\ufffd`

// replaced returns how many bytes that are not UTF-8 were perhaps replaced, or will be when
// data, which is JSON, is decoded.
func replaced(data []byte) int {
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte(replacement))
	}
	return bytes.Count(data, []byte(replacement))
}

// notUTF8 returns the error for the first string that is another one when data is decoded and
// encoded again.
func notUTF8(data, again []byte) error {
	at := 0
	for at < min(len(data), len(again)) && data[at] == again[at] {
		at++
	}
	text, _, _ := bytes.Cut(data[bytes.LastIndexByte(data[:at], '"')+1:], []byte(`"`))
	return fmt.Errorf("the string %s is not UTF-8: give the field the type cluster.Text or []byte, or the task a Codec", visible(fmt.Sprintf("%.200s", text)))
}

// isString reports whether the values of a type are strings that JSON encodes and decodes
// without a method of theirs.
func isString(t reflect.Type) bool {
	return t.Kind() == reflect.String && !slices.ContainsFunc([]reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}, reflect.PointerTo(t).Implements)
}

// decode is the reverse of encode.
func decode(data []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	switch {
	case len(data) == 0 || data[0] != rawText:
	case isString(to.Type()):
		to.SetString(string(data[1:]))
		return nil
	case to.Type() == reflect.TypeFor[any]():
		to.Set(reflect.ValueOf(string(data[1:])))
		return nil
	}
	return json.Unmarshal(data, v)
}

// visible returns a text of another machine for messages: quoted if it could change a
// terminal, or is not UTF-8.
func visible(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(text)
	}
	return text
}
