package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// The server keeps the first error of a write. From then on the stream refuses what is
// sent to it, also when the disk has room again, until the server is started anew. So
// the host looks after it: it waits until the directory takes writes, and puts a new
// server in the place of the old one, at the same address, under the same lock. What was
// confirmed is on the disk. Clients connect again by themselves.
//
// One goroutine does all of it, from the opening of the engine to its end.
//
//	race                                       what prevents it
//	Close while a directory is full            Close closes stop. The watch ends before Close stops the server.
//	Close while a server is replaced           Close waits until the watch has replaced it, then stops the new one.
//	Close while the watch gives up             fail ends the engine and stops the server, Close finds it stopped.
//	an error during the replacement            Each server has its own journal: its alarm is of that server only.
//	a late error of the server before          Its journal is not listened to any more.
//	the new server fails like the old one      It is replaced again, more slowly each time, a bounded number of times.
//	a connection inside during a replacement   It is refused, and the client tries again after a second.
const (
	lookEvery   = 2 * time.Second
	doubts      = 3           // errors in a row that do not say that the directory is gone, before they count
	restarts    = 6           // in a row, before the host gives up
	settled     = time.Minute // after that a server that fails is the first in a row
	remindEvery = time.Minute
	probeSize   = 1 << 20 // the largest message
)

// errTaken says that the directory is not the one that the server has.
var errTaken = errors.New("the directory of the server was removed or replaced")

// watch replaces a server that fails, until stop is closed or that is of no use.
func (h *host) watch() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for doubted := 0; ; {
		var why error
		select {
		case <-h.stop:
			return
		case text := <-h.journal.alarm:
			why = errors.New(text)
		case <-tick.C:
			sure := false
			if why, sure = h.ill(); why == nil {
				doubted = 0
				continue
			}
			if doubted++; doubted < doubts && !sure {
				continue
			}
		}
		doubted = 0
		if err := h.heal(why); err != nil {
			h.fail(err)
			return
		}
	}
}

// ill returns what keeps the server from its work, or nil, and whether that is sure. The
// server is not asked for its health: one stream that it cannot read, also of others, makes
// it ill, and a new server would not read it either.
func (h *host) ill() (why error, sure bool) {
	if !h.server.JetStreamEnabled() {
		return errors.New("JetStream is off"), true
	}
	if h.settings.memory {
		return nil, false
	}
	now, err := os.Stat(h.store())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, h.stored) {
		return errTaken, true
	}
	return err, false
}

// store is the directory of the streams.
func (h *host) store() string { return filepath.Join(h.dir, server.JetStreamStoreDir) }

// heal replaces the server, which has failed for that reason, when its directory takes
// writes. It returns an error if that is of no use, and nil when stop is closed.
func (h *host) heal(why error) error {
	if h.settings.memory || why == errTaken {
		return why
	}
	h.journal.Errorf("the server has failed, and takes nothing: %v; it is started again when %s takes what is written", why, h.dir)
	if time.Since(h.replaced) > settled {
		h.restarts = 0
	}
	for ; h.restarts < restarts; h.restarts++ {
		if !h.writable() || !h.pause(time.Second<<h.restarts/2) {
			return nil
		}
		err := h.replace()
		if err == nil {
			h.replaced = time.Now()
			h.restarts++
			h.journal.Warnf("the server was started again, and takes what is sent to it")
			return nil
		}
		why = err
		h.journal.Errorf("the server could not be started again: %v", err)
	}
	return fmt.Errorf("the server was started again %d times, and fails each time: %w", restarts, why)
}

// writable waits until the directory takes writes. It returns false when stop is closed.
func (h *host) writable() bool {
	for told := time.Now(); ; {
		err := h.probe()
		if err == nil {
			return true
		}
		if time.Since(told) > remindEvery {
			h.journal.Errorf("still nothing can be written: %v", err)
			told = time.Now()
		}
		if !h.pause(time.Second) {
			return false
		}
	}
}

// probe writes a file as large as a message, syncs it and removes it.
func (h *host) probe() error {
	f, err := os.Create(filepath.Join(h.dir, "stint.probe"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, probeSize))
	return errors.Join(err, f.Sync(), f.Close())
}

// pause waits. It returns false when stop is closed.
func (h *host) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-h.stop:
		return false
	}
}

// replace stops the server and starts another one.
func (h *host) replace() error {
	h.halt()
	return h.serve()
}

// fail gives the server up: the engine ends, with the reason.
func (h *host) fail(why error) {
	h.journal.Errorf("the server has failed, and is stopped: %v", why)
	h.failed(fmt.Errorf("embedded: the server has failed: %w", why))
	h.halt()
}
