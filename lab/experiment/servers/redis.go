package servers

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// redisServer is Redis.
func redisServer() server {
	return server{
		name: "redis", find: findRedis, start: startRedis, links: distances(), connect: connectRedis,
		rows: []row{{name: "redis", doc: "an op is a GET, in Redis"}},
	}
}

// findRedis returns the path of the server.
func findRedis() (string, error) { return find("redis-server", "/usr/sbin", "/opt/homebrew/bin") }

// startRedis starts a server that stores nothing.
func startRedis(ctx context.Context, dir, path string) (running, error) {
	address, port, err := freeAddress()
	if err != nil {
		return running{}, err
	}
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
	p, err := launch(ctx, nil, cmd, func(ctx context.Context) error {
		c := redis.NewClient(&redis.Options{Addr: address})
		defer c.Close()
		pairs := make([]any, 0, 2*redisKeys)
		for i := range redisKeys {
			pairs = append(pairs, strconv.Itoa(i), i)
		}
		return c.MSet(ctx, pairs...).Err()
	})
	if err != nil {
		return running{}, err
	}
	return running{address, address, p.stop}, nil
}

const redisKeys = 10_000

// connectRedis opens all connections to a server.
func connectRedis(ctx context.Context, address string) ([]task, func(), error) {
	c := redis.NewClient(&redis.Options{Addr: address, PoolSize: maxLimit, MinIdleConns: maxLimit})
	var all sync.WaitGroup
	errs := make(chan error, maxLimit)
	for range maxLimit {
		all.Go(func() { errs <- c.Ping(ctx).Err() })
	}
	all.Wait()
	for range maxLimit {
		if err := <-errs; err != nil {
			c.Close()
			return nil, nil, err
		}
	}
	get := func(ctx context.Context, i int) error {
		want := key(i) % redisKeys
		got, err := c.Get(ctx, strconv.Itoa(want)).Int()
		if err == nil && got != want {
			err = fmt.Errorf("key %d is %d", want, got)
		}
		return err
	}
	return []task{get}, func() { c.Close() }, nil
}
