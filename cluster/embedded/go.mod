module github.com/stint-go/stint/cluster/embedded

go 1.26.0

require (
	github.com/nats-io/nats-server/v2 v2.15.2
	github.com/nats-io/nats.go v1.55.0
	github.com/stint-go/stint/cluster v0.0.0
)
