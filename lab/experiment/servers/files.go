package servers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// files serves tasks that write files in a folder.
func files() server {
	return server{
		name: "files",
		rows: []row{{name: "files", doc: "an op is a new file of 4 KiB, with fsync, which is then removed"}},
		start: func(_ context.Context, dir, _ string) (running, error) {
			return running{near: dir, stop: func() {}}, nil
		},
		connect: func(_ context.Context, dir string) ([]task, func(), error) {
			block := bytes.Repeat([]byte{'x'}, 4<<10)
			write := func(_ context.Context, i int) error {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
				if err != nil {
					return err
				}
				_, err = f.Write(block)
				return cmp.Or(err, f.Sync(), f.Close(), os.Remove(f.Name()))
			}
			return []task{write}, func() {}, nil
		},
	}
}
