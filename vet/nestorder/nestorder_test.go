package nestorder_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/stint-go/stint/vet/nestorder"
)

func Test(t *testing.T) {
	analysistest.Run(t, "../testdata", nestorder.Analyzer, "./nestorder")
}
