package chart

// Shares are the parts of a whole, as one bar without words: it stands in a row
// of a table that has the numbers, and is hidden from those who cannot see it.
type Shares []Share

// A Share is one of them.
type Share struct {
	Look Look
	Part int
}

// SVG draws them.
func (s Shares) SVG() string {
	const wide, high = 120.0, 12.0
	total := 0
	for _, share := range s {
		total += max(share.Part, 0)
	}
	c := &canvas{}
	x := 0.5
	for _, share := range s {
		if share.Part > 0 {
			w := float64(share.Part) / float64(total) * (wide - 1)
			c.rect(x, 0.5, w, high-1, "share "+share.Look.class())
			x += w
		}
	}
	return `<svg class="shares" aria-hidden="true" viewBox="0 0 ` + num(wide) + ` ` + num(high) + `">` + c.b.String() + "</svg>"
}

// Swatch is a small bar with a look, to say what it means. As all swatches, it is
// hidden from those who cannot see it.
func Swatch(l Look) string {
	return swatch(func(c *canvas) { c.rect(1, 1.5, 20, 9, "bar "+l.class()) })
}

// CurveSwatch is a piece of a line with a look.
func CurveSwatch(l Look) string {
	return swatch(func(c *canvas) {
		c.line(0, 6, 22, 6, "curve "+l.class())
		c.mark(11, 6, l, "")
	})
}

// LevelSwatch is a piece of a level with a look.
func LevelSwatch(l Look) string {
	return swatch(func(c *canvas) { c.line(0, 6, 22, 6, "level "+l.class()) })
}

// BandSwatch is a piece of a band with a look.
func BandSwatch(l Look) string {
	return swatch(func(c *canvas) { c.rect(0, 1, 22, 10, "band "+l.class()) })
}

func swatch(draw func(*canvas)) string {
	c := &canvas{}
	draw(c)
	return `<svg class="swatch" aria-hidden="true" viewBox="0 0 22 12">` + c.b.String() + "</svg>"
}
