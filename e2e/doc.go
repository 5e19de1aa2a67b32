// Package e2e holds the tests that need what Go alone does not bring: real
// clients and servers from the npm registry and PyPI, and tapbench. They drive the
// built binary from outside, through `make e2e`; `go test ./...` leaves them out.
//
// MCPSNOOP names the binary under test, SHARED the directory of the shared parts,
// E2E_PARTS where install.sh put the clients, TAPBENCH the load generator.
package e2e
