// Package cluster runs tasks of package stint on many machines, through NATS JetStream.
package cluster
