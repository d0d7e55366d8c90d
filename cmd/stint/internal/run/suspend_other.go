//go:build !unix

package run

import "github.com/stint-go/stint/cmd/stint/internal/process"

func suspendTogether(*process.Engine) (end func()) { return func() {} }
