package jobserver

import (
	"context"
	"io"
	"sync"
)

// What a Client tells its Keeper.
const (
	Want   = 0  // to get one more token; at most one is wanted at a time
	Return = 1  // the token that it has had for the longest time
	End    = -1 // to return all tokens and to take no more
)

// A Keeper has the tokens of a Client in another process. It must be made by NewKeeper. Its
// methods must not be called concurrently.
type Keeper struct {
	pool   *Pool
	grants io.WriteCloser
	wants  chan struct{}
	cancel context.CancelFunc
	ended  chan struct{} // closed when no more tokens are taken

	mu   sync.Mutex
	held []byte // tokens
}

// NewKeeper returns a Keeper that takes tokens from pool. It writes a byte to grants for each token
// that it has taken, and owns both.
func NewKeeper(pool *Pool, grants io.WriteCloser) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{pool: pool, grants: grants, wants: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{})}
	go k.take(ctx)
	return k
}

// take takes the tokens that are wanted.
func (k *Keeper) take(ctx context.Context) {
	defer close(k.ended)
	for {
		select {
		case <-k.wants:
		case <-ctx.Done():
			return
		}
		token, err := k.pool.Take(ctx)
		if err != nil {
			return
		}
		k.mu.Lock()
		k.held = append(k.held, token)
		k.mu.Unlock()
		_, _ = k.grants.Write([]byte{token})
	}
}

// Tell takes a message of the Client. It does not block, except after End.
func (k *Keeper) Tell(message int) {
	switch message {
	case Want:
		select {
		case k.wants <- struct{}{}:
		default:
		}
	case Return:
		k.mu.Lock()
		defer k.mu.Unlock()
		if len(k.held) > 0 {
			_ = k.pool.Put(k.held[0])
			k.held = k.held[1:]
		}
	case End:
		k.Close()
	}
}

// Close returns all tokens. It may be called again.
func (k *Keeper) Close() {
	k.cancel()
	<-k.ended
	_ = k.pool.Put(k.held...)
	k.held = nil
	k.grants.Close()
}
