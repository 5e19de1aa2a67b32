// Command mcpsnoop records what MCP clients and servers say to each other and
// answers questions about it. See README.md.
package main

import (
	"os"

	"mcpsnoop/internal/cli"
)

// version is set by the linker in released binaries.
var version string

func main() {
	os.Exit(cli.Main(cli.SystemEnv(version), os.Args[1:]))
}
