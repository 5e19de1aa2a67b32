package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// declaredCodes returns the exit codes that exit.go declares.
func declaredCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "exit") {
			codes = append(codes, spec.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	slices.Sort(codes)
	return codes
}

// TestExitCodesAreDocumented compares the README's table with the codes there are.
func TestExitCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| exit code |")
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| \S`).FindAllStringSubmatch(table, -1) {
		told = append(told, row[1])
	}
	slices.Sort(told)
	if codes := declaredCodes(t); !ok || len(codes) < 5 || !slices.Equal(told, codes) {
		t.Errorf("the README tells of %q, there are %q", told, codes)
	}
}

// TestDefect: a defect of ours says so, with what helps to find it, and has its code.
func TestDefect(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	code := Main(&Env{
		Stdin: out, Stdout: out, Stderr: out, Now: time.Now, Version: "test",
		Getenv: func(string) string { panic("nothing in it") },
	}, []string{"sessions"})
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code != exitDefect || !bytes.HasPrefix(text, []byte("mcpsnoop: error: internal defect: nothing in it\nmcpsnoop: hint: ")) || !bytes.Contains(text, []byte("exit_test.go")) {
		t.Errorf("exit code %d: %s", code, text)
	}
}

// TestNothingGoesOn: no command leaves anything running behind it.
func TestNothingGoesOn(t *testing.T) {
	before := goleak.IgnoreCurrent()
	log := filepath.Join(t.TempDir(), "log.jsonl")
	const text = `{"session_id":"s-1-000000000001","server_label":"s","seq":1,"ts":"2026-01-01T00:00:00Z","direction":"meta","transport":"stdio","raw":{"command":["a"],"cwd":"/"}}
{"session_id":"s-1-000000000001","server_label":"s","seq":2,"ts":"2026-01-01T00:00:01Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}
`
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitYes, []string{"check", log}},
		{exitNo, []string{"check", "--fail-on", "pending", log}},
		{exitYes, []string{"export", "-o", log + ".json", log}},
		{exitYes, []string{"export", "-T", "text", log}},
		{exitYes, []string{"show", log, "2"}},
		{exitUsage, []string{"show", log, "9"}},
		{exitYes, []string{"tail", log}},
		{exitYes, []string{"sessions"}},
		{exitYes, []string{"rules", "TOOL-006"}},
		{exitUsage, []string{"validate", "--format", "xml", log}},
		{exitYes, []string{"validate", "-o", log + ".txt", log}},
		{127, []string{"watch", "-o", log + ".watch", "stdio", "--", "./no-such-server"}},
		{exitUsage, []string{"watch", "-o", log + ".http", "http", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:99999"}},
		{exitUsage, []string{"check", "nowhere"}},
		{exitYes, []string{"--help"}},
		{127, []string{"./no-such-server"}},
	} {
		if code, _, stderr := command(t, c.args...); code != c.code {
			t.Errorf("%q exits with %d, want %d: %s", c.args, code, c.code, stderr)
		}
		goleak.VerifyNone(t, before)
	}
}
