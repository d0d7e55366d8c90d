package articles_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/stint-go/stint/vet/articles"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), articles.Analyzer, "goroutines", "channels", "cpus")
}
