module github.com/stint-go/stint/lab

go 1.26

require (
	github.com/spf13/cobra v1.10.2
	golang.org/x/perf v0.0.0-20251208221838-04cf7a2dca90
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)
