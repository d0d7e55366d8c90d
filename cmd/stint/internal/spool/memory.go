package spool

// memory counts the bytes of chunks in memory, by their size. It makes none: the data of
// a chunk is allocated by its first write, outside the lock.
type memory struct {
	limit int64
	used  int64    // the sizes of all chunks, and of spare
	spare [][]byte // the data of chunks of blockSize that were freed
}

// free returns how many bytes of chunks there is room for.
func (m *memory) free() int64 {
	return m.limit - m.used + int64(len(m.spare))*blockSize
}

// take returns a chunk of a size, if there is room for it.
func (m *memory) take(size int) (chunk, bool) {
	if m.free() < int64(size) {
		return chunk{}, false
	}
	c := chunk{block: inMemory, size: size}
	if last := len(m.spare) - 1; last >= 0 && size == blockSize {
		c.data = m.spare[last]
		m.drop()
		m.used += blockSize
		return c, true
	}
	for m.used+int64(size) > m.limit {
		m.drop()
	}
	m.used += int64(size)
	return c, true
}

// drop leaves a spare block to the garbage collector.
func (m *memory) drop() {
	last := len(m.spare) - 1
	m.spare[last] = nil
	m.spare = m.spare[:last]
	m.used -= blockSize
}

// put frees a chunk.
func (m *memory) put(c chunk) {
	if c.size == blockSize && c.data != nil {
		m.spare = append(m.spare, c.data[:0])
	} else {
		m.used -= int64(c.size)
	}
}
