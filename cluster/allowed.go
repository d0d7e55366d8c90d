package cluster

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// MaxMessage returns how many bytes an encoded item or result may have on this server, and in
// its streams: a mebibyte by default, less the header.
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

// maxStored is how much the streams may have together if the account bounds each of them and
// not all of them.
const maxStored = 1 << 30

// streamBytes returns the size of a stream that gets so many 64ths of the account, or 0, no
// bound, unless the account wants one.
func (c *Client) streamBytes(parts int64) int64 {
	if !c.limits.MaxBytesRequired {
		return 0
	}
	account, most := c.limits.MaxStore, c.limits.StoreMaxStreamBytes
	if c.conf.memory {
		account, most = c.limits.MaxMemory, c.limits.MemoryMaxStreamBytes
	}
	if account <= 0 || account > maxStored {
		account = maxStored
	}
	bytes := account / 64 * parts / int64(or(c.conf.replicas, 1))
	if most > 0 {
		bytes = min(bytes, most)
	}
	return bytes
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
