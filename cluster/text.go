package cluster

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a string for fields of items and results that may have any bytes, such as the name
// of a file on Linux: encoding/json replaces bytes that are not UTF-8, and Text keeps them. It
// is encoded as a JSON string or, if it is not UTF-8, as {"bytes":"..."} in base64.
type Text string

// textBytes is a Text that is not UTF-8.
type textBytes struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(textBytes{[]byte(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		var b textBytes
		err := json.Unmarshal(data, &b)
		*t = Text(b.Bytes)
		return err
	}
	return json.Unmarshal(data, (*string)(t))
}

// rawText begins the encoding of a string that is not UTF-8, as no JSON does.
const rawText = 0xff

// encode is the default of Codec: JSON, and rawText with the bytes of a string that is not
// UTF-8. In other values it refuses such strings.
func encode(v any) ([]byte, error) {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.String && !utf8.ValidString(r.String()) && !encodesItself[json.Marshaler](r) && !encodesItself[encoding.TextMarshaler](r) {
		return append([]byte{rawText}, r.String()...), nil
	}
	data, err := json.Marshal(v)
	if err == nil && bytes.Contains(data, []byte(`\ufffd`)) { // perhaps a replaced byte
		if s, ok := invalidText(r); ok {
			return nil, fmt.Errorf("the text %.200q is not UTF-8: give the field the type cluster.Text, or []byte", s)
		}
	}
	return data, err
}

// decode is the reverse of encode.
func decode(data []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	switch {
	case len(data) == 0 || data[0] != rawText:
	case to.Kind() == reflect.String:
		to.SetString(string(data[1:]))
		return nil
	case to.Type() == reflect.TypeFor[any]():
		to.Set(reflect.ValueOf(string(data[1:])))
		return nil
	}
	return json.Unmarshal(data, v)
}

// encodesItself reports whether JSON calls a method of v's: M is json.Marshaler or
// encoding.TextMarshaler.
func encodesItself[M any](v reflect.Value) bool {
	m := reflect.TypeFor[M]()
	return v.CanInterface() && (v.Type().Implements(m) || v.CanAddr() && reflect.PointerTo(v.Type()).Implements(m))
}

// invalidText returns a string in v, which JSON can encode, that is not UTF-8.
func invalidText(v reflect.Value) (string, bool) {
	switch {
	case !v.IsValid() || encodesItself[json.Marshaler](v):
		return "", false
	case encodesItself[encoding.TextMarshaler](v) && v.Kind() != reflect.Pointer: // JSON has what MarshalText returns
		m, ok := v.Interface().(encoding.TextMarshaler)
		if !ok {
			m = v.Addr().Interface().(encoding.TextMarshaler)
		}
		text, _ := m.MarshalText()
		return string(text), !utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), !utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return invalidText(v.Elem())
	case reflect.Slice, reflect.Array:
		for _, e := range v.Seq2() {
			if s, bad := invalidText(e); bad {
				return s, true
			}
		}
	case reflect.Map:
		for key, e := range v.Seq2() {
			if s, bad := invalidText(key); bad {
				return s, true
			}
			if s, bad := invalidText(e); bad {
				return s, true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if s, bad := invalidText(v.Field(i)); bad {
				return s, true
			}
		}
	}
	return "", false
}

// visible returns a text of another machine for messages: quoted if it could change a
// terminal, or is not UTF-8.
func visible(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(text)
	}
	return text
}
