package mcpsnoop_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rows holds the packages below internal, top down: a package imports only from
// rows below its own. This is the only copy of docs/design.md's order; a package
// that is in no row does not build the project.
var rows = []string{
	"cli",
	"tui",
	"live replay demo",
	"export report",
	"html otlp gate diff baseline index view",
	"checks",
	"judge filter",
	"run",
	"session",
	"redact tap hub",
	"statedir",
	"capture/foreign",
	"capture proc clientconf",
	"catalog",
	"jsonrpc sse mcp tracectx term",
	"jsontree",
}

// never lists what the rows would allow and the design does not: what may be on
// the right of each package's arrow is empty of these.
var never = map[string]string{
	"tap":     "jsonrpc mcp session judge", // bytes are copied, not understood
	"hub":     "jsonrpc mcp session judge",
	"session": "view term", // no wording below view
	"judge":   "view term",
	"checks":  "view term",
}

const (
	sdk     = "github.com/modelcontextprotocol/go-sdk" // only demo imports it
	maxFile = 400                                      // lines; tests, generated files and tables apart
	maxFunc = 80
)

var badNames = []string{"util", "utils", "common", "types", "models", "helpers"}

// source is one Go file of this module that is no test.
type source struct {
	path  string // from the root, with slashes
	dir   string
	file  *ast.File
	fset  *token.FileSet
	lines int
}

// internal returns the file's package as rows spell it, "" outside internal.
func (s source) internal() string {
	p, _ := strings.CutPrefix(s.dir, "internal/")
	if p == s.dir {
		return ""
	}
	return p
}

func sources(t *testing.T) (all []source) {
	t.Helper()
	for name := range files(t) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.FromSlash(name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, source{name, path.Dir(name), f, fset, fset.File(f.Pos()).LineCount()})
	}
	if len(all) == 0 {
		t.Fatal("no source found: run from the root of the repository")
	}
	return all
}

// rowOf maps each package to the number of its row.
func rowOf(t *testing.T) map[string]int {
	t.Helper()
	at := map[string]int{}
	for i, row := range rows {
		for _, p := range strings.Fields(row) {
			if _, twice := at[p]; twice {
				t.Fatalf("%s is in two rows", p)
			}
			at[p] = i
		}
	}
	return at
}

func TestImportsGoDown(t *testing.T) {
	at := rowOf(t)
	for _, s := range sources(t) {
		from := s.internal()
		if from == "" {
			continue
		}
		row, known := at[from]
		if !known {
			t.Errorf("%s: internal/%s is in no row of arch_test.go", s.path, from)
			continue
		}
		for _, to := range ourImports(s) {
			switch below, known := at[to]; {
			case !known: // said above, at that package's own files
			case below <= row:
				t.Errorf("%s: %s (row %d) imports %s (row %d): only lower rows may be imported", s.path, from, row+1, to, below+1)
			case slices.Contains(strings.Fields(never[from]), to):
				t.Errorf("%s: %s must not import %s", s.path, from, to)
			}
		}
	}
}

// ourImports returns the packages below internal that a file imports.
func ourImports(s source) (names []string) {
	for _, im := range s.file.Imports {
		p, _ := strconv.Unquote(im.Path.Value)
		if name, ok := strings.CutPrefix(p, "mcpsnoop/internal/"); ok {
			names = append(names, name)
		}
	}
	return names
}

func TestOnlyDemoImportsTheSDK(t *testing.T) {
	for _, s := range sources(t) {
		for _, im := range s.file.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			if strings.HasPrefix(p, sdk) && s.internal() != "demo" {
				t.Errorf("%s imports the MCP SDK: only internal/demo does", s.path)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		table := true
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			table = false
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > maxFunc {
				t.Errorf("%s: %s has %d lines, may have %d", s.path, fn.Name.Name, n, maxFunc)
			}
		}
		if !table && s.lines > maxFile {
			t.Errorf("%s has %d lines, may have %d", s.path, s.lines, maxFile)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range []string{s.file.Name.Name, path.Base(s.dir)} {
			if slices.Contains(badNames, name) {
				t.Errorf("%s: a package called %s says nothing about what it holds", s.path, name)
			}
		}
	}
}

// TestRowsRefuse proves that the rules above can fail.
func TestRowsRefuse(t *testing.T) {
	at := rowOf(t)
	for _, c := range []struct{ from, to string }{
		{"session", "view"}, {"tap", "session"}, {"capture", "capture/foreign"}, {"jsontree", "jsonrpc"}, {"proc", "capture"},
	} {
		if at[c.to] > at[c.from] {
			t.Errorf("%s may import %s", c.from, c.to)
		}
	}
	for _, c := range []struct{ from, to string }{
		{"cli", "tap"}, {"session", "jsonrpc"}, {"capture/foreign", "capture"}, {"jsonrpc", "jsontree"}, {"export", "view"},
	} {
		if at[c.to] <= at[c.from] {
			t.Errorf("%s may not import %s", c.from, c.to)
		}
	}
}

// files yields the repository's files by their path from the root, with slashes;
// what git ignores by our .gitignore (built things) and hidden directories but .ci
// are left out.
func files(t *testing.T) func(yield func(string) bool) {
	t.Helper()
	skip := []string{"bin", "node_modules", "venv", "testdata/cache"}
	return func(yield func(string) bool) {
		err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := filepath.ToSlash(p)
			if d.IsDir() {
				hidden := strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci"
				if hidden || slices.Contains(skip, d.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() || name == "mcpsnoop" {
				return nil
			}
			if !yield(name) {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
