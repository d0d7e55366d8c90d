package lostwait_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/stint-go/stint/vet/lostwait"
)

func Test(t *testing.T) {
	analysistest.Run(t, "../testdata", lostwait.Analyzer, "./lostwait")
}
