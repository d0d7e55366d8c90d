package commands

import (
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/bench"
)

// BenchmarkSum prints the digests of all files of a tree: 200 MB in files of 4 MB, and 1,250 small ones. The GNU tools
// also find and sort the files, as stint does. With xargs -P their lines come in any order, and the files are not sorted.
func BenchmarkSum(b *testing.B) {
	dir := b.TempDir()
	digests := tree(dir)
	const find, sort, xargs = "find . -type f -print0 | ", "LC_ALL=C sort -z | ", "xargs -0 "
	for _, alg := range []string{"md5", "sha256"} {
		for _, way := range []struct {
			name    string
			ordered bool
			args    []string
		}{
			{"gnu", true, []string{"sh", "-c", find + sort + xargs + alg + "sum"}},
			{"xargs-P", false, []string{"sh", "-c", fmt.Sprintf("%s -P %d -n 16 %ssum", find+xargs, runtime.GOMAXPROCS(0), alg)}},
			{"stint", true, []string{"", "sum", "-a", alg, "."}},
		} {
			b.Run(fmt.Sprintf("alg=%s/way=%s", alg, way.name), func(b *testing.B) {
				if way.name == "stint" {
					way.args[0] = program(b, "stint")
				} else if _, err := exec.LookPath(alg + "sum"); err != nil {
					b.Skip(err)
				}
				var got []byte
				bench.Process(b, func() (err error) {
					c := exec.Command(way.args[0], way.args[1:]...)
					c.Dir = dir
					got, err = c.Output()
					return err
				}, func() error {
					if text := string(got); text != digests[alg] && (way.ordered || sorted(text) != sorted(digests[alg])) {
						return errors.New("the digests are wrong")
					}
					return nil
				})
			})
		}
	}
}

func sorted(text string) string { return strings.Join(slices.Sorted(strings.Lines(text)), "") }

// tree makes the files, and returns the lines with their digests in the order of the names. Large files are among the
// small ones, so that batches are of similar size.
func tree(dir string) map[string]string {
	content := rand.NewChaCha8([32]byte{1})
	sizes := rand.New(rand.NewPCG(1, 0))
	lines := map[string]string{}
	for i := range bench.Short(1300, 26) {
		n := 1000 + sizes.IntN(7000)
		if i%26 == 0 {
			n = bench.Short(4_000_000, 10_000)
		}
		data := make([]byte, n)
		_, _ = content.Read(data) // never fails
		name := fmt.Sprintf("%02d/%04d", i/65, i)
		path := filepath.Join(dir, filepath.FromSlash(name))
		bench.Check(errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)))
		lines["md5"] += fmt.Sprintf("%x  ./%s\n", md5.Sum(data), name)
		lines["sha256"] += fmt.Sprintf("%x  ./%s\n", sha256.Sum256(data), name)
	}
	return lines
}
