package taskctx_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/stint-go/stint/vet/taskctx"
)

func Test(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, "../testdata", taskctx.Analyzer, "./taskctx")
}
