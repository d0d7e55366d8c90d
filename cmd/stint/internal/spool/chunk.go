package spool

// inMemory is the block of a chunk that is in memory.
const inMemory = -1

// A chunk is room for some consecutive bytes of a buffer.
type chunk struct {
	data  []byte // nil until the first write, and in the file
	block int    // of the file, or inMemory
	n     int    // bytes kept
	size  int    // bytes that there is room for
}

// write keeps as many bytes of p as there is room for. After an error, the bytes that it
// counts are kept all the same.
func (c *chunk) write(p []byte, f *file) (int, error) {
	p = p[:min(len(p), c.size-c.n)]
	n, err := len(p), error(nil)
	switch {
	case c.block != inMemory:
		n, err = f.writeAt(p, offset(c.block, c.n))
	case c.data == nil:
		c.data = append(make([]byte, 0, c.size), p...)
	default:
		c.data = append(c.data, p...)
	}
	c.n += n
	return n, err
}

// read copies kept bytes to p, beginning with the byte at from.
func (c *chunk) read(p []byte, from int, f *file) (int, error) {
	if c.block == inMemory {
		return copy(p, c.data[from:]), nil
	}
	p = p[:min(len(p), c.n-from)]
	return f.readAt(p, offset(c.block, from))
}

// A cursor is a position in a list of chunks.
type cursor struct {
	chunk int
	from  int // in the chunk
}

// read fills p from the chunks at the cursor, and moves it. At the end of the chunks it
// returns fewer bytes. Only the last chunk may get more bytes, so the cursor stays in it
// until it is full.
func (at *cursor) read(p []byte, chunks []chunk, f *file) (n int, err error) {
	for n < len(p) && err == nil && at.chunk < len(chunks) {
		c := &chunks[at.chunk]
		if at.from < c.n {
			var m int
			m, err = c.read(p[n:], at.from, f)
			n, at.from = n+m, at.from+m
		}
		if at.from == c.n {
			if c.n < c.size {
				break
			}
			at.chunk, at.from = at.chunk+1, 0
		}
	}
	return n, err
}
