//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// run runs a command to its end and returns its standard output.
func run(t *testing.T, env []string, argv ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = append(cmd.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s%s", filepath.Base(argv[0]), err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes()
}

// TestTransparency runs real sessions directly and through the shim and compares.
func TestTransparency(t *testing.T) {
	// Clients on the TypeScript SDK pass HOME on but not our variables, so the
	// state directory is named by flag.
	args := "REALPARTS_STDIO_ARGS=--home " + t.TempDir() + " --label {name} --"
	out := run(t, []string{args}, filepath.Join(shared, "realparts", "compare-transparency.sh"), binary, "stdio", "bytes")
	t.Logf("\n%s", out)
}

// report is what we look at of what tapbench prints.
type report struct {
	Name   string  `json:"name"`
	Intact bool    `json:"bytes_intact"`
	Lost   float64 `json:"frames_lost_max"`
}

// TestLoad floods the shim: bytes stay as they are and every frame is in the log.
func TestLoad(t *testing.T) {
	for name, args := range map[string][]string{
		"bulk":  {"bulk"}, // 200,000 notifications; 10 MiB and 64 MiB lines
		"stdio": {"stdio", "--payload", "100", "--concurrency", "16"},
	} {
		t.Run(name, func(t *testing.T) {
			out := run(t, nil, append(append([]string{tapbench}, args...), "--wrap", binary+" --")...)
			n := 0
			for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); n++ {
				var r report
				if err := dec.Decode(&r); err != nil {
					t.Fatal(err)
				}
				if !r.Intact || r.Lost != 0 {
					t.Errorf("%s: bytes intact %v, %v frames missing from the log", r.Name, r.Intact, r.Lost)
				}
			}
			if n == 0 {
				t.Error("tapbench reported nothing")
			}
		})
	}
}
