//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// The places the tests need, absolute; make e2e names them.
var binary, shared, parts, tapbench string

// TestMain is also the server that the closing tests put behind the shim.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == serverArg {
		serve(os.Args[2], os.Args[3])
		return
	}
	for name, place := range map[string]*string{
		"MCPSNOOP": &binary, "SHARED": &shared, "E2E_PARTS": &parts, "TAPBENCH": &tapbench,
	} {
		path, err := filepath.Abs(os.Getenv(name))
		if err == nil && os.Getenv(name) != "" {
			_, err = os.Stat(path)
		}
		if err != nil || os.Getenv(name) == "" {
			os.Stderr.WriteString("e2e: " + name + " must name what it stands for: run `make e2e`\n")
			os.Exit(2)
		}
		*place = path
	}
	os.Exit(m.Run())
}
