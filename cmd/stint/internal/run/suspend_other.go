//go:build !unix

package run

import (
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

func suspendTogether(*process.Engine, *limit.Limit) (end func()) { return func() {} }
