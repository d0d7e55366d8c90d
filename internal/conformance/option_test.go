package conformance_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/stream"
)

// within is Auto(min, max) for the limit that a call, a group or a pool has when no
// Limiter is given.
func within(min, max int) stint.Option {
	return option.Func(func(o *option.Options) { o.Min, o.Max = min, max })
}

// The comment of a function that takes options names exactly those that it accepts.
func TestOptionsAreDocumented(t *testing.T) {
	pool := stint.NewPool()
	defer pool.Close()
	options := map[string]stint.Option{
		"Limiter": stint.Limit(1), "Pool": pool, "Queue": stint.Queue(1), "Burst": stint.Burst(1),
		"Overload":  stint.Overload(func(error) bool { return false }),
		"KeepGoing": stint.KeepGoing(), "LowPriority": stint.LowPriority(), "Unordered": stint.Unordered(),
		"HedgeAfter": stint.HedgeAfter(1), "Name": stint.Name("n"), "OnPanic": stint.OnPanic(func(*stint.PanicError) {}),
	}
	documented := documentedOptions(t, "../..", "../../stream")
	for name, call := range optionCalls() {
		var accepted []string
		for _, o := range slices.Sorted(maps.Keys(options)) {
			if refusal, _ := recovered(func() { call(options[o]) }).(string); !strings.HasSuffix(refusal, "does not apply") {
				accepted = append(accepted, o)
			}
		}
		if got := slices.Sorted(slices.Values(documented[name])); !slices.Equal(got, accepted) {
			t.Errorf("the comment of %s names the options %v; it accepts %v", name, got, accepted)
		}
		delete(documented, name)
	}
	if len(documented) > 0 {
		t.Errorf("functions with options that are not tried here: %v", documented)
	}
}

// optionCalls are calls with one option.
func optionCalls() map[string]func(stint.Option) {
	bg := context.Background()
	item := func(context.Context, int) error { return nil }
	value := func(context.Context, int) (int, error) { return 0, nil }
	key := func(i int) int { return i }
	numbers := stream.From([]int(nil))
	return map[string]func(stint.Option){
		"Each":       func(o stint.Option) { stint.Each(bg, nil, item, o) },
		"Range":      func(o stint.Option) { stint.Range(bg, 0, item, o) },
		"Map":        func(o stint.Option) { stint.Map(bg, nil, value, o) },
		"First":      func(o stint.Option) { stint.First(bg, nil, value, o) },
		"EachSeq":    func(o stint.Option) { stint.EachSeq(bg, count(0), item, o) },
		"MapSeq":     func(o stint.Option) { stint.MapSeq(bg, count(0), value, o) },
		"EachKey":    func(o stint.Option) { stint.EachKey(bg, count(0), key, item, o) },
		"MapKey":     func(o stint.Option) { stint.MapKey(bg, count(0), key, value, o) },
		"NewGroup":   func(o stint.Option) { stint.NewGroup(bg, o).Wait() },
		"NewResults": func(o stint.Option) { stint.NewResults[int](bg, o).Wait() },
		"Auto":       func(o stint.Option) { stint.Auto(1, 2, o) },
		"NewPool":    func(o stint.Option) { stint.NewPool(o).Close() },
		"ParMap":     func(o stint.Option) { stream.ParMap(numbers, value, o) },
		"ParMapKey":  func(o stint.Option) { stream.ParMapKey(numbers, key, value, o) },
	}
}

var optionsSentence = regexp.MustCompile(`Options: ([^.]*)\.`)

// documentedOptions returns the options that the comments of functions name.
func documentedOptions(t *testing.T, dirs ...string) map[string][]string {
	found := map[string][]string{}
	for _, dir := range dirs {
		files, _ := filepath.Glob(dir + "/*.go")
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if m := optionsSentence.FindStringSubmatch(strings.Join(strings.Fields(f.Doc.Text()), " ")); m != nil {
					found[f.Name.Name] = regexp.MustCompile(`[A-Z]\w+`).FindAllString(m[1], -1)
				}
			}
		}
	}
	return found
}
