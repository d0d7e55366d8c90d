module github.com/stint-go/stint/.ci/release

go 1.26.0

require golang.org/x/mod v0.30.0
