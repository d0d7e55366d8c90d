package taskgo_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/stint-go/stint/vet/taskgo"
)

func Test(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, "../testdata", taskgo.Analyzer, "./taskgo")
}
