package chart

// Shares are the parts of a whole as one bar. It is hidden from screen readers:
// the table row beside it has the numbers.
type Shares []Share

// A Share is one part.
type Share struct {
	Look Look
	Part int
}

// SVG returns the drawing.
func (s Shares) SVG() string {
	const hasInterval, high = 120.0, 12.0
	total := 0
	for _, share := range s {
		total += max(share.Part, 0)
	}
	c := &canvas{}
	x := 0.5
	for _, share := range s {
		if share.Part > 0 {
			w := float64(share.Part) / float64(total) * (hasInterval - 1)
			c.rect(x, 0.5, w, high-1, "share "+share.Look.class())
			x += w
		}
	}
	return `<svg class="shares" aria-hidden="true" viewBox="0 0 ` + num(hasInterval) + ` ` + num(high) + `">` + c.b.String() + "</svg>"
}

// Swatch returns a small bar for a legend. Swatches are hidden from screen
// readers.
func Swatch(l Look) string {
	return swatch(func(c *canvas) { c.rect(1, 1.5, 20, 9, "bar "+l.class()) })
}

// CurveSwatch returns a piece of a line.
func CurveSwatch(l Look) string {
	return swatch(func(c *canvas) {
		c.line(0, 6, 22, 6, "curve "+l.class())
		c.mark(11, 6, l, "")
	})
}

// LevelSwatch returns a piece of a level.
func LevelSwatch(l Look) string {
	return swatch(func(c *canvas) { c.line(0, 6, 22, 6, "level "+l.class()) })
}

// BandSwatch returns a piece of a band.
func BandSwatch(l Look) string {
	return swatch(func(c *canvas) { c.rect(0, 1, 22, 10, "band "+l.class()) })
}

func swatch(draw func(*canvas)) string {
	c := &canvas{}
	draw(c)
	return `<svg class="swatch" aria-hidden="true" viewBox="0 0 22 12">` + c.b.String() + "</svg>"
}
