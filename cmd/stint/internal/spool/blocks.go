package spool

// keptBlocks is how long the file may stay, in blocks, while nothing is in it.
const keptBlocks = 16 << 20 / blockSize

// blocks are those of the file. Each is in a chunk, in free or in unwritten.
type blocks struct {
	made int   // how many there are; the next one is after them
	free []int // the last to be freed is at the end, and used first

	// unwritten are blocks that the disk had no room for. They are as good as new ones.
	unwritten []int
	failed    bool // a write has kept not one byte since a chunk was freed
}

// full reports whether no block is worth a write before a chunk is freed. Blocks that
// were written before have their part of the disk, so they are always worth one.
func (b *blocks) full() bool { return b.failed && len(b.free) == 0 }

// take returns an empty chunk in the file.
func (b *blocks) take() chunk {
	from := &b.free
	if len(b.free) == 0 {
		from = &b.unwritten
	}
	c := chunk{block: b.made, size: blockSize}
	if last := len(*from) - 1; last >= 0 {
		c.block = (*from)[last]
		*from = (*from)[:last]
	} else {
		b.made++
	}
	return c
}

// put frees a block. It reports whether all are free and forgotten, so that the file
// should be truncated.
func (b *blocks) put(block int) bool {
	b.free = append(b.free, block)
	if len(b.free)+len(b.unwritten) < b.made || b.made <= keptBlocks {
		return false
	}
	*b = blocks{}
	return true
}

// putFailed frees a block of which not one byte could be written.
func (b *blocks) putFailed(block int) {
	b.unwritten = append(b.unwritten, block)
	b.failed = true
}

// offset returns where byte n of a block is in the file.
func offset(block, n int) int64 { return int64(block)*blockSize + int64(n) }
