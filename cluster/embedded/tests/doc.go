// Package tests holds the tests of package cluster on real servers, with workers,
// submitters and servers that are processes of their own. They are here since package
// cluster does not require a server.
package tests
