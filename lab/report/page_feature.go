package report

import (
	"strings"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/result"
)

// A matrix is the table of features as the page shows it.
type matrix struct {
	Libraries []features.Library
	Features  []featureRow
}

// A featureRow is one feature with what each library has of it.
type featureRow struct {
	features.Feature
	Cells []featureCell
}

// A featureCell is one answer with the library that it is about.
type featureCell struct {
	features.Cell
	Library features.Library
}

// Word is the answer, in the letters that claims have.
func (c featureCell) Word() string { return strings.ToLower(string(c.Answer)) }

// Sign is its picture.
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
