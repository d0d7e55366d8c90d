package claims

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The authors' figures support the authors' conclusions: one that they contradict is written down wrong here.
func TestArticlesSupportTheirConclusions(t *testing.T) {
	for _, a := range Articles {
		for _, c := range a.Claims {
			r := a.Theirs(c.There)
			if x := c.Judge(r); x.Verdict == Not {
				t.Errorf("%s: %s: %s", a.Title, c.Says, a.Told(c, x, r))
			}
		}
	}
}

// A test that shows a conclusion exists, and a cell of the feature table.
func TestShownByTests(t *testing.T) {
	for _, a := range Articles {
		for _, c := range a.Claims {
			if c.Test == "" {
				continue
			}
			test, dir, _ := strings.Cut(c.Test, " of lab/")
			name, cell, _ := strings.Cut(test, "/")
			var text strings.Builder
			files, err := filepath.Glob("../" + dir + "/*")
			for _, file := range files {
				b, _ := os.ReadFile(file)
				text.Write(b)
			}
			feature, _, _ := strings.Cut(strings.ReplaceAll(cell, "_", " "), "/")
			if err != nil || !strings.Contains(text.String(), "func "+name+"(") || !strings.Contains(text.String(), feature) {
				t.Errorf("there is no %s (%v)", c.Test, err)
			}
		}
	}
}

// results reads rounds, each a list of results such as "A 12, B-2 7 B/op 0"; a number without a unit is in ns/op.
func results(t *testing.T, rounds ...string) Results {
	t.Helper()
	var text strings.Builder
	for _, round := range rounds {
		for result := range strings.SplitSeq(round, ", ") {
			if name, rest, _ := strings.Cut(result, " "); strings.HasSuffix(name, ":") {
				fmt.Fprintln(&text, result) // a configuration line
			} else {
				fmt.Fprintf(&text, "Benchmark%s 1 %s\n", name, strings.Replace(rest+" ", " ", " ns/op ", 1))
			}
		}
	}
	r, err := Read(fstest.MapFS{"a.txt": {Data: []byte(text.String())}}, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJudge(t *testing.T) {
	var noisy, few []string // A is 0.8 to 1.2 times B
	for k := range 10 {
		noisy = append(noisy, fmt.Sprintf("A %d, B-2 10", 8+k%5))
	}
	few = slices.Repeat([]string{"A 20, B-2 10"}, 5)
	even := slices.Repeat([]string{"A 20, B-2 10, C 20, D 20 0 B/op 0 GCs/op, E 20 7 B/op 0 GCs/op"}, 10)
	ratio, than := []Pair{{A: "A", B: "B", BAll: true}}, func(a, b string) Pair { return Pair{A: a, B: b} }
	for _, test := range []struct {
		name   string
		claim  Claim
		rounds []string
		want   Verdict
		told   string // a part of what decides
	}{
		{"above", Claim{Bar: AtLeast(0.7), Pairs: ratio}, noisy, Holds, "1 [0.8, 1.2]"},
		{"inside the interval", Claim{Bar: More, Pairs: ratio}, noisy, Undecided, "1 [0.8, 1.2]"},
		{"beyond", Claim{Bar: AtLeast(2), Pairs: ratio}, noisy, Not, "1 [0.8, 1.2]"},
		{"below", Claim{Bar: AtMost(0.7), Pairs: ratio}, noisy, Not, "1 [0.8, 1.2]"},
		{"not measured", Claim{Bar: More, Pairs: []Pair{than("A", "X")}}, noisy, Undecided, "not measured"},
		{"one of two is not measured", Claim{Bar: AtLeast(0.7),
			Pairs: append([]Pair{than("X", "A")}, ratio...)}, noisy, Undecided, "1 of 2 figures"},
		{"one of two is beyond", Claim{Bar: AtMost(1.3), Pairs: append(ratio, than("A", "C"))}, even, Not,
			"2 [2, 2] times the time of B on 2 CPUs (1 of 2 beyond"},
		{"one of two may be beyond, and the other is nearer to the bar", Claim{Bar: AtLeast(0.9), Pairs: append(ratio, than("A", "C"))},
			slices.Repeat([]string{"A 1000, B-2 1000, C 1100",
				"A 1100, B-2 1000, C 1210", "A 800, B-2 1000, C 880", "A 1300, B-2 1000, C 1430"}, 3), Undecided, "1.050 [0.8, 1.3]"},
		{"fewer CPUs than it takes", Claim{Bar: AtLeast(2), Pairs: ratio, CPUs: 4}, noisy, Undecided, ""},
		{"no more CPUs gain nothing", Claim{Bar: NoGain, Pairs: AllToOne("A")}, slices.Repeat([]string{"A 20"}, 10), Undecided, "not measured"},
		{"five rounds", Claim{Bar: AtLeast(1.5), Pairs: ratio}, few, Undecided, "2 times"},
		{"a round", Claim{Bar: AtLeast(1.5), Pairs: ratio}, few[:1], Undecided, "2 times"},
		{"a round beside ten", Claim{Bar: AtLeast(1.5), Pairs: append(ratio, Pair{A: "X", Unit: "X/op"})},
			append(even, "X 2 2 X/op"), Undecided, ""},
		{"the mean", Claim{Bar: Between(1.41, 1.42), Pairs: append([]Pair{than("C", "A")}, ratio...), Mean: true},
			even, Holds, "mean of 2 ratios is 1.41 ["},
		{"a value", Claim{Bar: AtMost(30e-9), Pairs: []Pair{{A: "A"}}}, even, Holds, "time 20.0ns on one CPU"},
		{"the best of", Claim{Bar: Between(1.99, 2.01), Pairs: []Pair{than("A", "X/n=*")}},
			slices.Repeat([]string{"A 20, X/n=1 30, X/n=2 10, X/n=4 20"}, 10), Holds, "the best n"},
		{"some of none", Claim{Bar: More, Pairs: In("B/op", than("E", "D"))}, even, Holds, "∞"},
		{"none of some", Claim{Bar: More, Pairs: In("B/op", than("D", "E"))}, even, Not, "0 [0, 0]"},
		{"none and none", Claim{Bar: Between(0.95, 1.05), Pairs: In("GCs/op", than("D", "E"))}, even, Holds, "1 [1, 1]"},
		{"the mean with none and some of none", Claim{Bar: More, Pairs: In("B/op", than("D", "E"), than("E", "D")), Mean: true},
			even, Undecided, "not measured"},
		{"more results than the other has", Claim{Bar: AtLeast(1.5), Pairs: ratio}, append(even, "B-2 10"), Undecided, "not measured"},
		{"a peak in some rounds", Claim{Bar: AtLeast(1.5), Pairs: In("peak-B/op", than("A", "B"))},
			slices.Repeat([]string{"A 5, B 5 1 peak-B/op", "A 5 2 peak-B/op, B 5 1 peak-B/op", "A 5 2 peak-B/op, B 5"}, 6), Holds, "2 [2, 2]"},
		{"results of two settings", Claim{Bar: AtLeast(1.5), Pairs: ratio},
			append(slices.Repeat([]string{"n: 1, A 20, B-2 10"}, 5), slices.Repeat([]string{"n: 2, A 40, B-2 20"}, 5)...), Undecided, "not measured"},
		{"a test", Claim{Test: "TestA"}, nil, Holds, "`TestA`"},
	} {
		r := results(t, test.rounds...)
		if got := test.claim.Judge(r); got.Verdict != test.want || !strings.Contains(Article{}.Told(test.claim, got, r), test.told) {
			t.Errorf("%s: got %s, want %s: %s", test.name, got.Verdict, test.want, Article{}.Told(test.claim, got, r))
		}
	}
}

// What an author says stands beside what decides here, or says what it is about.
func TestSaid(t *testing.T) {
	theirs := results(t, "A 20, A-8 10, B 10")
	theirs.Exact = true
	for want, pair := range map[string]Pair{"2": {A: "A", B: "B"}, "2 (A)": {A: "X", B: "B"}, "0.5": {A: "A", B: "A", AAll: true}} {
		c := Claim{Bar: AtLeast(1), Pairs: []Pair{{A: "A", B: "B"}, pair}}
		if got := (Article{}).Said(c, Answer{Pair: pair, Measured: 2}, theirs); got != want {
			t.Errorf("%v: got %q, want %q", pair, got, want)
		}
	}
}

// A line that is no result is an error, not a result less.
func TestReadRefuses(t *testing.T) {
	if _, err := Read(fstest.MapFS{"a.txt": {Data: []byte("BenchmarkA 1 x ns/op\n")}}, "a.txt"); err == nil {
		t.Error("a value that is no number was read")
	}
}

func TestWords(t *testing.T) {
	a := Article{Names: map[string]string{"Odd": "strange"}}
	for want, got := range map[string]string{
		"CPUPipelineBuffer": a.Word("CPUPipelineBuffer"), "par.Reduce": a.Word("CPU/model=par.Reduce"), "strange": a.Word("Odd"),
		"8 workers": a.Word("Sweep/workers=8"), "1 worker": a.Word("Sweep/workers=1"),
		"select, the best limit": a.Word("Server/row=select/limit=*"), "select, link near": a.Word("Server/row=select/link=near"),
		"48.7ms": Quantity(0.0487, Time), "1.50s": Quantity(1.5, Time), "3.00ns": Quantity(3e-9, Time), "0.00s": Quantity(0, Time),
		"96.0MB": Quantity(96e6, "B/op"), "14": Quantity(14, "at-once"), "12": Quantity(12, "others-%"), "1001": Quantity(1001, "scheduled/op"),
		"1000": Quantity(999.7, "scheduled/op"), "∞": Quantity(math.Inf(1), "scheduled/op"), "1.003": digits(1.003), "0.9": digits(0.9),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
