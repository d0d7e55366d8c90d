package run

import (
	"context"

	"github.com/stint-go/stint/lab/experiment"
)

func (l *lab) cluster(ctx context.Context) (experiment.Study, error) {
	return experiment.Study{}, nil
}
