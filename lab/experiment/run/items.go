package run

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// items are what jobs run for.
type items struct {
	n    int
	file string           // with a line each
	text func(int) string // of an item
}

// numbered is the text of most items: 20 bytes with the newline.
func numbered(i int) string { return fmt.Sprintf("%019d", i) }

// newItems returns items with a file, which only rows that are measured need.
func (l *lab) newItems(kase string, n int, text func(int) string) (items, error) {
	it := items{n: n, text: text}
	if !l.prepares(kase) {
		return it, nil
	}
	f, err := os.CreateTemp(l.dir, "items-")
	if err != nil {
		return it, err
	}
	it.file = f.Name()
	w := bufio.NewWriter(f)
	for i := range n {
		w.WriteString(text(i))
		w.WriteByte('\n')
	}
	return it, errors.Join(w.Flush(), f.Close())
}

// all returns the items as a list.
func (it items) all() []string {
	out := make([]string, it.n)
	for i := range out {
		out[i] = it.text(i)
	}
	return out
}

// wrong returns how many numbered items an output does not have repeat times, or not where
// they should be. The word echo, which a dry run shows, is ignored.
func (it items) wrong(output string, repeat int, ordered bool) (n int, err error) {
	f, err := os.Open(output)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	counts, last := make([]int, it.n), 0
	words := bufio.NewScanner(f)
	words.Buffer(nil, 1<<20)
	words.Split(bufio.ScanWords)
	for words.Scan() {
		word := words.Bytes()
		if string(word) == "echo" {
			continue
		}
		i, err := strconv.Atoi(string(word))
		if err != nil || i < 0 || i >= it.n {
			return 0, fmt.Errorf("%.40q is not an item", word)
		}
		if ordered && i < last {
			n++
		}
		counts[i]++
		last = i
	}
	for _, c := range counts {
		if c != repeat {
			n++
		}
	}
	return n, words.Err()
}

// check returns an error if an item is wrong.
func (it items) check(output string, repeat int, ordered bool) error {
	n, err := it.wrong(output, repeat, ordered)
	if err == nil && n > 0 {
		err = fmt.Errorf("%d of %d items are missing, repeated or not in order", n, it.n)
	}
	return err
}
