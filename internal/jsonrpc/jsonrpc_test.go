package jsonrpc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpsnoop/internal/jsontree"
)

// parse parses a text that must be acceptable.
func parse(t testing.TB, p *Parser, text string) []Message {
	t.Helper()
	if err := jsontree.Check([]byte(text)); err != nil {
		t.Fatalf("%.60s: %v", text, err)
	}
	return p.Parse([]byte(text))
}

func TestKindAndDefects(t *testing.T) {
	const v = `"jsonrpc":"2.0",`
	for _, c := range []struct {
		text    string
		kind    Kind
		defects Defects
	}{
		// Well-formed.
		{`{` + v + `"id":1,"method":"ping"}`, Request, 0},
		{`{` + v + `"id":"a","method":"tools/call","params":{"name":"x"}}`, Request, 0},
		{`{` + v + `"method":"notifications/initialized"}`, Notification, 0},
		{`{` + v + `"id":0,"result":{}}`, Response, 0},
		{`{"result":{},` + v + `"id":0}`, Response, 0},
		{`{` + v + `"id":1,"error":{"code":-32601,"message":"Method not found","data":null}}`, Response, 0},
		{`{` + v + `"error":{"code":-32700,"message":"Parse error"}}`, Response, 0},
		{`{` + v + `"id":1,"error":{"code":-32601.0,"message":""}}`, Response, 0},
		{`{` + v + `"id":1,"result":null}`, Response, 0},
		{`{` + v + `"id":1,"result":5}`, Response, 0},
		{`{` + v + `"id":1,"method":""}`, Request, 0},

		// Version.
		{`{"id":1,"method":"ping"}`, Request, BadVersion},
		{`{"jsonrpc":2.0,"id":1,"method":"ping"}`, Request, BadVersion},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, Request, BadVersion},
		{`{"jsonrpc":"2\u002e0","id":1,"method":"ping"}`, Request, 0},
		{`{"jsonrpc":null,"id":1,"result":1}`, Response, BadVersion},
		{`{"JSONRPC":"2.0","ID":1,"Method":"ping"}`, Invalid, BadVersion},
		{`{"jsonrp\u0063":"2.0","\u0069d":1,"m\u0065thod":"ping"}`, Request, 0},

		// Ids.
		{`{` + v + `"id":null,"method":"ping"}`, Request, NullID},
		{`{` + v + `"id":null,"error":{"code":1,"message":"x"}}`, Response, NullID},
		{`{` + v + `"id":1.5,"method":"ping"}`, Request, FracID},
		{`{` + v + `"id":1.0,"method":"ping"}`, Request, 0},
		{`{` + v + `"id":1e3,"method":"ping"}`, Request, 0},
		{`{` + v + `"id":-7,"method":"ping"}`, Request, 0},
		{`{` + v + `"id":1e400,"method":"ping"}`, Request, FracID},
		{`{` + v + `"id":true,"method":"ping"}`, Request, BadID},
		{`{` + v + `"id":[1],"method":"ping"}`, Request, BadID},
		{`{` + v + `"id":{},"method":"ping"}`, Request, BadID},
		{`{` + v + `"id":"","method":"ping"}`, Request, 0},

		// Params.
		{`{` + v + `"method":"x","params":[]}`, Notification, ArrayParams},
		{`{` + v + `"method":"x","params":null}`, Notification, BadParams},
		{`{` + v + `"method":"x","params":"y"}`, Notification, BadParams},

		// Results and errors.
		{`{` + v + `"id":1,"result":{},"error":{"code":1,"message":"x"}}`, Response, BothResults},
		{`{` + v + `"id":1,"result":{},"error":null}`, Response, NullTwin},
		{`{` + v + `"id":1,"result":null,"error":{"code":1,"message":"x"}}`, Response, NullTwin},
		{`{` + v + `"id":1,"result":null,"error":null}`, Response, NullTwin},
		{`{` + v + `"id":1,"result":null,"error":"boom"}`, Response, NullTwin | BadError},
		{`{` + v + `"id":1,"method":"x","result":{}}`, Request, Mixed},
		{`{` + v + `"id":1,"method":"x","error":{"code":1,"message":"x"}}`, Request, Mixed},
		{`{` + v + `"id":1,"method":"x","params":null,"result":null,"error":null}`, Request, NullTwin | BadParams},
		{`{` + v + `"id":1,"method":null,"result":{},"error":null}`, Response, NullTwin},
		{`{` + v + `"id":1,"error":{}}`, Response, BadError},
		{`{` + v + `"id":1,"error":{"code":1}}`, Response, BadError},
		{`{` + v + `"id":1,"error":{"message":"x"}}`, Response, BadError},
		{`{` + v + `"id":1,"error":{"code":1,"message":null}}`, Response, BadError},
		{`{` + v + `"id":1,"error":{"code":"1","message":"x"}}`, Response, BadCode},
		{`{` + v + `"id":1,"error":{"code":1.5,"message":5}}`, Response, BadCode | BadError},

		// Wrong types, and what else tells what it is.
		{`{` + v + `"id":1,"method":5}`, Invalid, BadMethod},
		{`{` + v + `"method":{}}`, Invalid, BadMethod},
		{`{` + v + `"id":1,"method":5,"result":{}}`, Response, BadMethod},
		{`{` + v + `"id":1,"method":null}`, Odd, BadMethod},
		{`{"method":null}`, Invalid, BadVersion | BadMethod},
		{`{` + v + `"id":1,"error":"boom"}`, Response, BadError},
		{`{` + v + `"error":"boom"}`, Response, BadError},
		{`{"id":1,"error":"boom"}`, Response, BadVersion | BadError},
		{`{"error":"unauthorized"}`, Invalid, BadVersion | BadError},
		{`{"error":"invalid_token","error_description":"x"}`, Invalid, BadVersion | BadError},
		{`{"error":{"code":401,"message":"x"}}`, Response, BadVersion},
		{`{` + v + `"id":1,"error":null}`, Odd, BadError | NoOutcome},
		{`{"error":null}`, Invalid, BadVersion | BadError},
		{`{` + v + `"id":1,"method":[],"error":false}`, Response, BadMethod | BadError},

		// Neither.
		{`{` + v + `"id":1}`, Odd, NoOutcome},
		{`{"id":1}`, Odd, BadVersion | NoOutcome},
		{`{"jsonrpc":"2.0"}`, Odd, 0},
		{`{"jsonrpc":"2.0","params":{}}`, Odd, 0},
		{`{}`, Invalid, BadVersion},
		{`{"params":{}}`, Invalid, BadVersion},
		{`{"level":30,"msg":"started"}`, Invalid, BadVersion},
		{`5`, Invalid, NotObject},
		{`"text"`, Invalid, NotObject},
		{`null`, Invalid, NotObject},
		{`true`, Invalid, NotObject},

		// Names that stand twice: the last counts.
		{`{` + v + `"id":1,"method":5,"method":"ping"}`, Request, DuplicateKeys},
		{`{` + v + `"method":"ping","method":5}`, Invalid, DuplicateKeys | BadMethod},
		{`{` + v + `"method":"x","params":{"a":[{"b":1,"\u0062":2}]}}`, Notification, DuplicateKeys},
	} {
		var p Parser
		messages := parse(t, &p, c.text)
		if len(messages) != 1 {
			t.Errorf("%s: %d messages", c.text, len(messages))
			continue
		}
		m := messages[0]
		if m.Kind != c.kind || m.Defects != c.defects || m.Element != -1 || string(m.Root.Text()) != c.text {
			t.Errorf("%s: %v with %s, element %d; want %v with %s", c.text, m.Kind, names(m.Defects), m.Element, c.kind, names(c.defects))
		}
	}
}

// names spells a set of defects, for messages of tests.
func names(d Defects) string {
	all := []string{"BadVersion", "BadID", "NullID", "FracID", "BadMethod", "BadParams", "ArrayParams", "BothResults", "NullTwin", "Mixed",
		"BadError", "BadCode", "NoOutcome", "DuplicateKeys", "InBatch", "EmptyBatch", "RestOfBatch", "NotObject"}
	var set []string
	for i, name := range all {
		if d.Has(1 << i) {
			set = append(set, name)
		}
	}
	return "{" + strings.Join(set, " ") + "}"
}

func TestDefectNamesOfThisTest(t *testing.T) {
	if got := names(NotObject); got != "{NotObject}" {
		t.Errorf("names is out of step: %s", got)
	}
	if d := BadID | NullID; !d.Has(BadID) || d.Has(BadID|FracID) || !d.Has(0) {
		t.Error("Has")
	}
}

func TestMembers(t *testing.T) {
	var p Parser
	m := parse(t, &p, ` {"method":"tools/c\u0061ll","id": "\u0031" ,"params":{"a":1},"jsonrpc":"2.0"} `)[0]
	if m.Method != "tools/call" || string(m.ID) != `"\u0031"` || string(m.Params.Text()) != `{"a":1}` || m.Result.Exists() || m.Error.Exists() {
		t.Errorf("got %+v", m)
	}
	m = parse(t, &p, `{"jsonrpc":"2.0","id":null,"result":null}`)[0]
	if string(m.ID) != "null" || m.Result.Kind() != jsontree.Null || m.Method != "" {
		t.Errorf("got %+v", m)
	}
	m = parse(t, &p, `{"jsonrpc":"2.0","error":{"code":5,"message":"x"}}`)[0]
	if code, _ := m.Error.Get("code").Int(); m.ID != nil || code != 5 {
		t.Errorf("got %+v", m)
	}
}

func TestBatch(t *testing.T) {
	var p Parser
	got := parse(t, &p, `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b","x":1,"x":2},7,[{}],{"jsonrpc":"2.0","id":2,"result":{}}]`)
	want := []struct {
		kind    Kind
		method  string
		defects Defects
	}{{Request, "a", 0}, {Notification, "b", DuplicateKeys}, {Invalid, "", NotObject}, {Invalid, "", NotObject}, {Response, "", 0}}
	if len(got) != len(want) {
		t.Fatalf("%d messages", len(got))
	}
	for i, w := range want {
		if m := got[i]; m.Kind != w.kind || m.Method != w.method || m.Defects != w.defects|InBatch || m.Element != i {
			t.Errorf("element %d: %v %q %s at %d", i, m.Kind, m.Method, names(m.Defects), m.Element)
		}
	}
	got = parse(t, &p, " [ ] ")
	if len(got) != 1 || got[0].Kind != Invalid || got[0].Defects != EmptyBatch || got[0].Element != -1 || string(got[0].Root.Text()) != "[ ]" {
		t.Errorf("empty batch: %+v", got)
	}
	got = parse(t, &p, "["+strings.Repeat("1,", MaxBatch)+"1]")
	last := got[len(got)-1]
	if len(got) != MaxBatch+1 || last.Element != MaxBatch || last.Kind != Invalid || last.Defects != InBatch|RestOfBatch {
		t.Errorf("batch beyond MaxBatch: %d messages, last %v %s", len(got), last.Kind, names(last.Defects))
	}
	if got = parse(t, &p, "["+strings.Repeat("1,", MaxBatch-1)+"1]"); len(got) != MaxBatch || got[MaxBatch-1].Defects != InBatch|NotObject {
		t.Errorf("batch of MaxBatch: %d messages", len(got))
	}
	parse(t, &p, `{}`)
	if cap(p.messages) > keepMessages {
		t.Errorf("room for %d messages is kept", cap(p.messages))
	}
}

func TestAllocatesNothing(t *testing.T) {
	texts := [][]byte{
		[]byte(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":{"text":"a\nb"},"_meta":{"progressToken":8}}}`),
		[]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5}}`),
		[]byte(`{"result":{"content":[{"type":"text","text":"x"}]},"jsonrpc":"2.0","id":8}`),
		[]byte(`{"jsonrpc":"2.0","id":8.5,"error":{"code":-32601,"message":"no"}}`),
		[]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`),
		[]byte(`{"id":"abc","method":"x"}`),
	}
	var p Parser
	if n := testing.AllocsPerRun(200, func() {
		for _, text := range texts {
			for i := range p.Parse(text) {
				IDKey(p.messages[i].ID)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A peer that invents method names cannot make the parser grow, nor cost others theirs.
func TestMethodsAreBounded(t *testing.T) {
	var p Parser
	for i := range 100_000 {
		want := fmt.Sprintf("invented/%d", i)
		if got := p.Parse([]byte(`{"jsonrpc":"2.0","method":"` + want + `"}`))[0].Method; got != want {
			t.Fatalf("method %q, want %q", got, want)
		}
	}
	long := strings.Repeat("m", 1<<20)
	if got := p.Parse([]byte(`{"jsonrpc":"2.0","method":"` + long + `"}`))[0].Method; got != long {
		t.Error("a long method is lost")
	}
	if len(p.methods) > maxMethods {
		t.Errorf("%d methods are kept", len(p.methods))
	}
	for name := range p.methods {
		if len(name) > maxMethodLen {
			t.Errorf("a method of %d bytes is kept", len(name))
		}
	}
	// A method outlives the text it came from.
	text := []byte(`{"jsonrpc":"2.0","method":"ping"}`)
	method := p.Parse(text)[0].Method
	for i := range text {
		text[i] = '!'
	}
	if method != "ping" {
		t.Errorf("method is now %q", method)
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1`, true}, {`1`, `"1"`, false}, {`1`, `1.0`, false}, {`1`, `1e0`, false}, {`0`, `-0`, false}, {`null`, `null`, true}, {`null`, `"null"`, false},
		{`"1"`, `"\u0031"`, true}, {`"a\/b"`, `"a/b"`, true}, {`"\n"`, `"\u000a"`, true}, {`"\u000A"`, `"\u000a"`, true}, {`"\""`, `"\u0022"`, true},
		{`"\\u0031"`, `"1"`, false}, {`"\ud83d\ude00"`, `"😀"`, true}, {`"\u00e9"`, `"é"`, true}, {`"e\u0301"`, `"é"`, false}, {`""`, `""`, true},
		{`"\ud83d"`, `"\ufffd"`, false}, {`"\ud83d"`, `"\ud83d"`, true}, {`"\ud83d"`, `"\ud83e"`, false}, {`"\u007f"`, "\"\x7f\"", true}, {`"<"`, `"\u003c"`, true},
		{`true`, `true`, true}, {`[1]`, `[1]`, true}, {`{"a":"\u0031"}`, `{"a":"1"}`, false}, {`"\u2028"`, "\"\u2028\"", true},
	} {
		if bytes.Equal(IDKey([]byte(c.a)), IDKey([]byte(c.b))) != c.same {
			t.Errorf("%s and %s: same is not %v", c.a, c.b, c.same)
		}
	}
	if IDKey(nil) != nil {
		t.Error("the key of no id")
	}
	if got := string(IDKey([]byte(`"\u0031"`))); got != `"1"` {
		t.Errorf("key of an escaped id: %s", got)
	}
}

func TestIsIntegerID(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "1": true, "-1": true, "123456789012345678901234567890": true, "1.0": true, "1.000": true, "1e3": true, "1.5e1": true,
		"100e-2": true, "1e308": true, "0e5": true, "9007199254740993": true, strings.Repeat("9", 300): true,
		"1.5": false, "1e-1": false, "0.1": false, "1e400": false, "1e99999999999999": false, strings.Repeat("9", 400): false,
		strings.Repeat("9", 600): false, "0." + strings.Repeat("0", 600): false, "1e309": false,
	} {
		var p Parser
		if got := !parse(t, &p, `{"jsonrpc":"2.0","id":`+text+`,"method":"x"}`)[0].Defects.Has(FracID); got != want {
			t.Errorf("%.40s: integer is %v", text, got)
		}
	}
}

func TestKindString(t *testing.T) {
	if Invalid.String() != "invalid" || Odd.String() != "odd" || Kind(99).String() != "unknown" {
		t.Error("names of kinds")
	}
}

// Real captures hold few oddities: most of what peers sent must come out plain.
func TestRealTraffic(t *testing.T) {
	logs, _ := filepath.Glob("../../../shared/real-logs/*.jsonl")
	if len(logs) == 0 {
		t.Skip("no captures beside the project")
	}
	var p Parser
	var tree jsontree.Tree
	kinds, defects := map[Kind]int{}, map[string]int{}
	for _, name := range logs {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if tree.Parse([]byte(strings.TrimSpace(line))) != nil {
				continue
			}
			raw := tree.Root().Get("raw")
			if dir, _ := tree.Root().Get("direction").Str(); !raw.Exists() || dir != "c2s" && dir != "s2c" {
				continue
			}
			for _, m := range p.Parse(raw.Text()) {
				kinds[m.Kind]++
				if m.Defects != 0 {
					defects[names(m.Defects)]++
				}
			}
		}
	}
	t.Logf("%d captures: %v, defects %v", len(logs), kinds, defects)
	for _, k := range []Kind{Request, Response, Notification} {
		if kinds[k] == 0 {
			t.Errorf("no %v in %d captures", k, len(logs))
		}
	}
}
