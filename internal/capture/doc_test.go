package capture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documented returns the members that docs/format.md has in its tables, as paths:
// "seq", "http.verb", "start.client.pid".
func documented(t *testing.T, text string) map[string]bool {
	section := regexp.MustCompile("^#+ (?:`raw` of an? )?`(\\w+)`(?: frame)?$")
	name := regexp.MustCompile("`([^`]+)`")
	found := make(map[string]bool)
	prefix, listing := "", false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			if prefix = ""; section.MatchString(line) {
				prefix = section.FindStringSubmatch(line)[1] + "."
			}
		case !strings.HasPrefix(line, "|"):
			listing = false
		case strings.HasPrefix(line, "| member |"):
			listing = true
		case listing && !strings.HasPrefix(line, "|--"):
			names := name.FindAllStringSubmatch(strings.Split(line, "|")[1], -1)
			if names == nil {
				t.Errorf("row without a member: %s", line)
			}
			for _, n := range names {
				found[prefix+n[1]] = true
			}
		}
	}
	return found
}

// encoded returns the members that the encoder writes for frames that have all of them.
func encoded(t *testing.T) map[string]bool {
	found := make(map[string]bool)
	code := 0
	notes := NewNotes(StartInfo{1, "t", 1, "h", []string{"c"}, "w", 1, &Client{"h", 1, "s", "n", "w", []Process{{1, "s", "n"}}}, "l", "t"})
	base := Frame{Tap: "t", Label: "l", Seq: 1, Dir: C2S, Transport: HTTP, Kind: Other, Size: 1, EOL: CRLF, Flags: ^Flags(0), Conn: "c", Exchange: 1, MCPSession: "m",
		HTTP: &HTTPFacts{"v", "p", "q", 200, map[string]string{"mcp-method": "m", "mcp-name": "n", "mcp-protocol-version": "v", "mcp-param-a": Redaction}, map[string]string{"www-authenticate": "a"}, &SSEEvent{"i", "e", "d", 1, "c", "r"}, "c", "e"}}
	for prefix, set := range map[string]func(*Frame){
		"": func(f *Frame) {}, " ": func(f *Frame) { f.Dir = S2C }, "  ": func(f *Frame) { f.Form, f.Flags = Raw, 0; f.Payload = []byte("1") },
		"   ": func(f *Frame) { f.Form = Text }, "    ": func(f *Frame) { f.Form = Bytes },
		"start.": notes.Start, "gap.": func(f *Frame) { notes.Gap(f, GapInfo{1, 1, 1, 1, "r"}) }, "clock.": func(f *Frame) { notes.Clock(f, ClockInfo{}) },
		"end.": func(f *Frame) { notes.End(f, EndInfo{&code, "s", 1, 1}) },
	} {
		f := base
		if set(&f); f.Dir == Meta {
			f.Flags = 0
		}
		var o map[string]any
		if err := json.Unmarshal(AppendFrame(nil, &f), &o); err != nil {
			t.Fatal(err)
		}
		if payload, ok := o["raw"].(map[string]any); ok {
			paths(found, prefix, payload)
			o["raw"] = true
		}
		paths(found, "", o)
	}
	return found
}

func paths(found map[string]bool, prefix string, o map[string]any) {
	for name, value := range o {
		found[prefix+name] = true
		if strings.HasSuffix(name, "_headers") && prefix != "" {
			continue // names of headers are no members
		}
		switch v := value.(type) {
		case map[string]any:
			paths(found, prefix+name+".", v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					paths(found, prefix+name+"[].", e)
				}
			}
		}
	}
}

// decoded returns the members that the decoder knows: the cases of its switches.
func decoded(t *testing.T) map[string]bool {
	places := map[string]string{
		"Decoder.member": "", "httpDecoder.member": "http.", "httpDecoder.sseMember": "http.sse.", "httpDecoder.paramHeader": "mcp_param_headers[].",
		"StartInfo.member": "start.", "Client.member": "start.client.", "Process.member": "start.client.ancestors[].",
		"GapInfo.member": "gap.", "ClockInfo.member": "clock.", "EndInfo.member": "end.",
	}
	found := make(map[string]bool)
	for _, file := range []string{"decode.go", "decodehttp.go", "metaparse.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			name := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name + "." + f.Name.Name
			prefix, ok := places[name]
			if !ok {
				continue
			}
			delete(places, name)
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CaseClause); ok {
					for _, e := range c.List {
						if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
							text, _ := strconv.Unquote(lit.Value)
							found[prefix+text] = true
						}
					}
				}
				return true
			})
		}
	}
	for name := range places {
		t.Errorf("no such function: %s", name)
	}
	return found
}

func TestFormatIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, enc, dec := documented(t, string(text)), encoded(t), decoded(t)
	if len(doc) < 60 || len(enc) < 50 || len(dec) < 50 {
		t.Fatalf("%d documented, %d encoded, %d decoded members: the test does not see them", len(doc), len(enc), len(dec))
	}
	for what, known := range map[string]map[string]bool{"is written": enc, "is read": dec} {
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if !doc[name] {
				t.Errorf("%s %s, but docs/format.md does not say so", name, what)
			}
		}
	}
	// Command and cwd stand in all notes and are read from the start frame; whether a
	// header was redacted is for upstream's reader only.
	unread := regexp.MustCompile(`^((gap|clock|end)\.(command|cwd)|mcp_param_headers\[\]\.redacted)$`)
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if !enc[name] {
			t.Errorf("docs/format.md has %s, which is not written", name)
		}
		if !dec[name] && !unread.MatchString(name) {
			t.Errorf("docs/format.md has %s, which is not read", name)
		}
	}
	for _, words := range [][]string{directionWords[:], transportWords[:], kindWords[:], eolWords[:]} {
		for _, word := range words {
			if word != "" && !strings.Contains(string(text), "`"+word+"`") {
				t.Errorf("docs/format.md does not have the word %s", word)
			}
		}
	}
}
