package debug_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
)

// The parser of Prometheus reads what the handler answers, whatever the names are.
func TestPrometheusParses(t *testing.T) {
	names := []string{"mail", `a "b"`, `back\slash`, "new\nline", `\n`, "{}=,", "ä→", " ", "# HELP x", "\r\n", "{x=\"1\"} 2\n# EOF\n", "\\", "\ufffd", "\x1b[31m", strings.Repeat("long ", 1000)}
	h := new(debug.Handler)
	for i, name := range names {
		l := stint.Limit(i + 1)
		p := stint.NewPool(l)
		defer p.Close()
		for range i {
			p.Go(func(context.Context) {})
		}
		p.Idle(context.Background())
		h.AddPool(name, p)
		h.AddLimiter(name, l)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeOpenMetrics))+";q=0.6,"+string(expfmt.NewFormat(expfmt.TypeTextPlain))+";q=0.5")
	h.ServeHTTP(w, r)
	if got := expfmt.ResponseFormat(w.Result().Header); got.FormatType() != expfmt.TypeTextPlain {
		t.Errorf("format %q, from %q", got, w.Header().Get("Content-Type"))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 18 {
		t.Errorf("%d families, want 18", len(families))
	}
	for name, family := range families {
		if len(family.Metric) != len(names) || family.GetHelp() == "" {
			t.Errorf("%s: %d samples, want %d; help %q", name, len(family.Metric), len(names), family.GetHelp())
		}
	}
	for _, kind := range []string{"pool", "limiter"} { // a gauge and a counter have no value of another type
		limits, completed := families["stint_"+kind+"_limit"], families["stint_"+kind+"_completed_total"]
		values := map[string]float64{}
		for _, m := range limits.Metric {
			values[m.Label[0].GetValue()] = m.GetGauge().GetValue()
		}
		for _, m := range completed.Metric {
			values[m.Label[0].GetValue()] += 100 * m.GetCounter().GetValue()
		}
		for i, name := range names {
			if want := float64(i + 1 + 100*i); values[name] != want {
				t.Errorf("%s %q: limit and tasks %v, want %v", kind, name, values[name], want)
			}
		}
	}
}
