// Package embedded runs a NATS server with JetStream inside the program.
package embedded
