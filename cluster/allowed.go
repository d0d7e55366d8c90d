package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// MaxMessage returns how many bytes an encoded item or result may have: the smaller of the
// bounds of the server and of its streams, by default a mebibyte, less the bytes of the header.
func (c *Client) MaxMessage() int { return int(min(c.maxData("tasks"), c.maxData("results"))) }

// maxData returns how many bytes a message for a stream may have beside its header. A stream
// of bounded size is not filled by one message.
func (c *Client) maxData(stream string) int64 {
	most, have := c.nc.MaxPayload(), c.stream[stream].CachedInfo().Config
	if have.MaxMsgSize > 0 {
		most = min(most, int64(have.MaxMsgSize))
	}
	if have.MaxBytes > 0 {
		most = min(most, have.MaxBytes/2)
	}
	return max(0, most-int64(ownBytes))
}

// limitsOf returns the limits of the account for streams with so many replicas.
func limitsOf(info *jetstream.AccountInfo, replicas int) jetstream.AccountLimits {
	if tier, ok := info.Tiers["R"+strconv.Itoa(replicas)]; ok {
		return tier.Limits
	}
	return info.Limits
}

// The streams may have maxStored together if the account bounds each of them and not all of
// them, and have half of that, and so on down to minStored, if the server has not so much room.
const (
	maxStored = 1 << 30
	minStored = 4 << 20
)

// storage returns how many bytes all streams may have together, with their replicas, and the
// most that one may have; 0: any.
func (c *Client) storage() (all, one int64) {
	all, one = c.limits.MaxStore, c.limits.StoreMaxStreamBytes
	if c.conf.memory {
		all, one = c.limits.MaxMemory, c.limits.MemoryMaxStreamBytes
	}
	if all <= 0 || all > maxStored {
		all = maxStored
	}
	return all >> c.halved.Load(), max(0, one)
}

// streamBytes returns the size of a stream that gets so many 64ths of the storage, or 0, no
// bound, unless the account wants one.
func (c *Client) streamBytes(parts int64) int64 {
	if !c.limits.MaxBytesRequired {
		return 0
	}
	all, one := c.storage()
	bytes := all / 64 * parts / int64(or(c.conf.replicas, 1))
	if one > 0 {
		bytes = min(bytes, one)
	}
	return bytes
}

// errHalved says that the server has no room for a stream of that size, and that smaller ones
// are to be tried.
var errHalved = errors.New("the server has no room for streams of that size")

// halve reports whether err says that the server has no room for the size of a stream, and
// makes those of all streams smaller.
func (c *Client) halve(err error) bool {
	all, _ := c.storage()
	if !c.limits.MaxBytesRequired || !isShort(err) || all/2 < minStored {
		return false
	}
	c.halved.Add(1)
	return true
}

// isShort reports whether err says that servers do not have the room that a stream is to have.
func isShort(err error) bool {
	const noPeers, noMemory, noStorage, tooLarge = 10005, 10028, 10047, 10122
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == noMemory || api.ErrorCode == noStorage || api.ErrorCode == tooLarge ||
		api.ErrorCode == noPeers && strings.Contains(api.Description, "insufficient storage"))
}

// maxAckPending returns the limit in the error of a consumer whose MaxAckPending is above what
// the server or the account allows, or 0 for other errors.
func maxAckPending(err error) (n int64) {
	const exceeded = 10121
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == exceeded {
		_, _ = fmt.Sscanf(api.Description, "consumer max ack pending exceeds system limit of %d", &n)
	}
	return n
}
