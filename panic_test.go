package stint_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stint-go/stint"
)

// The comment of PanicError lists its fields and methods.
func TestPanicErrorComment(t *testing.T) {
	text, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	var listed, declared []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(?:\t|func \(p \*PanicError\) )(\w+)`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	typ := reflect.TypeFor[*stint.PanicError]()
	for _, f := range reflect.VisibleFields(typ.Elem()) {
		if f.IsExported() {
			declared = append(declared, f.Name)
		}
	}
	for m := range typ.Methods() {
		declared = append(declared, m.Name)
	}
	slices.Sort(listed)
	slices.Sort(declared)
	if !slices.Equal(listed, declared) {
		t.Errorf("the comment lists %q, declared are %q", listed, declared)
	}
}
