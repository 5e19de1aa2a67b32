//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
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

// TestTransparency runs real traffic directly and through the proxies, over both
// transports, and compares.
func TestTransparency(t *testing.T) {
	// Clients on the TypeScript SDK pass HOME on but not our variables, so the
	// state directory is named by flag.
	home := t.TempDir()
	out := run(t, []string{
		"REALPARTS_STDIO_ARGS=--home " + home + " --label {name} --",
		"REALPARTS_HTTP_ARGS=http --home " + home + " --label {name} --target {target} --listen {listen}",
	}, filepath.Join(shared, "realparts", "compare-transparency.sh"), binary, "http", "stream", "client", "stdio", "bytes")
	t.Logf("\n%s", out)
}

// report is what we look at of what tapbench prints.
type report struct {
	Name   string  `json:"name"`
	Intact bool    `json:"bytes_intact"`
	Lost   float64 `json:"frames_lost_max"`
	Runs   []struct {
		Failed float64 `json:"failed_calls"`
	} `json:"wrapped_runs"`
}

// TestLoad floods the proxies: bytes stay as they are, no call breaks, and every frame
// is in the log.
func TestLoad(t *testing.T) {
	shim := []string{"--wrap", binary + " --"}
	web := []string{"--proxy-cmd", binary + " http --target {target} --listen {listen}"}
	small := []string{"http", "--payload", "100", "--calls", "5000", "--concurrency", "16", "--rounds", "2"}
	// As much as fits the queue: what of it a machine that is busy otherwise cannot
	// write at that rate may wait, and more is promised nobody.
	large := []string{"http", "--payload", "1MiB", "--calls", "20", "--concurrency", "4", "--probes", "2", "--rounds", "3"}
	for name, args := range map[string][]string{
		"bulk":       slices.Concat([]string{"bulk"}, shim), // 200,000 notifications; 10 MiB and 64 MiB lines
		"stdio":      slices.Concat([]string{"stdio", "--payload", "100", "--concurrency", "16"}, shim),
		"http-small": slices.Concat(small, web),
		"http-large": slices.Concat(large, web),
		"sse-small":  slices.Concat(small, web, []string{"--sse"}),
		"sse-large":  slices.Concat(large, web, []string{"--sse"}),
	} {
		t.Run(name, func(t *testing.T) {
			out := run(t, nil, append([]string{tapbench}, args...)...)
			n := 0
			for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); n++ {
				var r report
				if err := dec.Decode(&r); err != nil {
					t.Fatal(err)
				}
				if !r.Intact || r.Lost != 0 {
					t.Errorf("%s: bytes intact %v, %v frames missing from the log", r.Name, r.Intact, r.Lost)
				}
				for _, one := range r.Runs {
					if one.Failed != 0 {
						t.Errorf("%s: %v calls broke", r.Name, one.Failed)
					}
				}
			}
			if n == 0 {
				t.Error("tapbench reported nothing")
			}
		})
	}
}
