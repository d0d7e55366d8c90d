package report

import "github.com/stint-go/stint/lab/stats"

// A Claim says that a model is at least Bar times as fast as the model it is
// compared with.
type Claim struct {
	Text  string  `json:"claim"`
	Case  string  `json:"case"`
	Model string  `json:"model"`
	Bar   float64 `json:"bar"`
}

// An Answer is what the figures say about a claim.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"      // the whole interval reaches the bar
	No      Answer = "no"       // none of it does
	NotSure Answer = "not sure" // the bar lies inside, or there is no interval
)

// A Verdict is a claim with its answer and the figures that it rests on.
type Verdict struct {
	Claim
	Answer  Answer         `json:"answer"`
	Speedup stats.Estimate `json:"speedup"`
}

func (c Claim) judge(speedup stats.Estimate) Verdict {
	v := Verdict{c, NotSure, speedup}
	switch in := speedup.Interval; {
	case in == nil:
	case in.Lo >= c.Bar:
		v.Answer = Yes
	case in.Hi < c.Bar:
		v.Answer = No
	}
	return v
}
