package report

import (
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// A matrix is the feature table of the page.
type matrix struct {
	Libraries []features.Library
	Features  []featureRow
}

// A featureRow is one feature with its cells.
type featureRow struct {
	features.Feature
	Cells []featureCell
}

// A featureCell is one answer with its library.
type featureCell struct {
	features.Cell
	Library features.Library
}

// Word returns the answer in lower case.
func (c featureCell) Word() string { return strings.ToLower(string(c.Answer)) }

// Sign returns the answer's symbol.
func (c featureCell) Sign() string {
	if c.Answer == features.Partly {
		return sign(result.InPart)
	}
	return sign(result.Answer(c.Word()))
}

func newMatrix(t features.Table) matrix {
	m := matrix{Libraries: t.Libraries}
	for i, f := range t.Features {
		row := featureRow{Feature: f}
		for j, c := range t.Cells[i] {
			row.Cells = append(row.Cells, featureCell{c, t.Libraries[j]})
		}
		m.Features = append(m.Features, row)
	}
	return m
}
