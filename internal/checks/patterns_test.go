package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

// talk writes a capture line by line.
type talk struct {
	strings.Builder
	n     int
	plain bool // as a recorder writes it that numbers frames after they went on
}

func (t *talk) client(format string, args ...any) { t.line("client-to-server", "c2s", format, args...) }

func (t *talk) server(format string, args ...any) { t.line("server-to-client", "s2c", format, args...) }

func (t *talk) line(direction, dir, format string, args ...any) {
	t.n++
	payload := `{"jsonrpc":"2.0",` + fmt.Sprintf(format, args...) + `}`
	if t.plain {
		fmt.Fprintf(t, `{"session_id":"quay-7-0a0b0c0d0e0f","server_label":"quay","seq":%d,"ts":"2026-09-01T08:00:00Z","direction":%q,"transport":"stdio","raw":%s}`+"\n", t.n, dir, payload)
		return
	}
	fmt.Fprintf(t, `{"seq":%d,"direction":%q,"transport":"stdio","kind":"message","payload":%s}`+"\n", t.n, direction, payload)
}

// outcome judges the capture and returns what a check counted, found and noted.
func (t *talk) outcome(tb testing.TB, c *judge.Check, rev mcp.Revision) (subjects, findings, notes int) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "talk.jsonl")
	if err := os.WriteFile(path, []byte(t.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	j, _ := judged(tb, openLog(tb, path), judge.Options{Revision: rev})
	for i := range j.Len() {
		n, list := j.Tally(i, c, rev)
		subjects, findings = subjects+n, findings+len(list)
		for _, note := range j.End(i).Notes {
			if note.Check == c {
				notes++
			}
		}
	}
	return subjects, findings, notes
}

const asksForm = `"result":{"resultType":"input_required","inputRequests":{%q:{"method":"elicitation/create"}},"requestState":"s%d"}`

func TestRoundsAreForgotten(t *testing.T) {
	for more := range 2 {
		log := new(talk)
		for i := range maxRounds + more {
			log.client(`"id":%d,"method":"tools/call","params":{"name":"t%d"}`, i, i)
			log.server(`"id":%d,`+asksForm, i, "pier", i)
		}
		log.client(`"id":"x","method":"tools/call","params":{"name":"t%d","inputResponses":{"pier":{"action":"decline"}}}`, maxRounds-1)
		_, found, _ := log.outcome(t, mrtrRequestStateEchoed, mcp.V2026_07_28)
		if want := 1 - more; found != want {
			t.Errorf("%d rounds: %d findings, want %d", maxRounds+more, found, want)
		}
	}
}

func TestAskedIsBounded(t *testing.T) {
	for more := range 2 {
		keys := make([]string, maxAsked+more)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":{"method":"roots/list"}`, i)
		}
		log := new(talk)
		log.client(`"id":1,"method":"tools/call","params":{"name":"t"}`)
		log.server(`"id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{%s}}`, strings.Join(keys, ","))
		log.client(`"id":2,"method":"tools/call","params":{"name":"t","requestState":"s"}`)
		subjects, _, _ := log.outcome(t, mrtrRetryCarriesInputResponses, mcp.V2026_07_28)
		if want := maxAsked * (1 - more); subjects != want {
			t.Errorf("%d keys: %d subjects, want %d", len(keys), subjects, want)
		}
	}
}

func TestFiltersAreBounded(t *testing.T) {
	for more := range 2 {
		uris := make([]string, maxURIs+more)
		for i := range uris {
			uris[i] = fmt.Sprintf(`"dock://%d"`, i)
		}
		log := new(talk)
		log.client(`"id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[%s]}}`, strings.Join(uris, ","))
		log.server(`"method":"notifications/resources/updated","params":{"uri":"dock://x","_meta":{"io.modelcontextprotocol/subscriptionId":1}}`)
		if _, _, notes := log.outcome(t, subscriptionsOnlyRequestedNotifications, mcp.V2026_07_28); notes != 1-more {
			t.Errorf("%d URIs: %d notes", len(uris), notes)
		}
	}
}

func TestSubscriptionsAreForgotten(t *testing.T) {
	for more := range 2 {
		log := new(talk)
		for i := range maxSubscriptions + more {
			log.client(`"id":%d,"method":"subscriptions/listen","params":{"notifications":{}}`, i)
		}
		log.server(`"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":0}}`)
		if _, found, _ := log.outcome(t, subscriptionsOnlyRequestedNotifications, mcp.V2026_07_28); found != 1-more {
			t.Errorf("%d subscriptions: %d findings", maxSubscriptions+more, found)
		}
	}
}

const (
	carries  = `"id":%d,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":%d}}`
	progress = `"method":"notifications/progress","params":{"progressToken":%d,"progress":%s}`
)

func TestTokensAreForgotten(t *testing.T) {
	for _, answered := range []int{0, 1} {
		log := new(talk)
		for i := range maxTokens + 1 {
			log.client(carries, i, i)
			if i < answered {
				log.server(`"id":%d,"result":{}`, i)
			}
		}
		log.server(`"id":1,"result":{}`)
		log.server(progress, 1, "1") // late, if the token is still known
		log.server(progress, 0, "1") // forgotten in either case
		_, found, _ := log.outcome(t, progressAfterAnswer, mcp.V2025_11_25)
		if found != answered {
			t.Errorf("with %d answered first: %d findings", answered, found)
		}
		if _, found, _ := log.outcome(t, progressKnownToken, mcp.V2025_11_25); found != 0 {
			t.Errorf("a forgotten token is taken for an unknown one")
		}
	}
}

func TestManyRequestsOfOneToken(t *testing.T) {
	for more := range 2 {
		log := new(talk)
		for i := range maxCarriers + more {
			log.client(carries, i, 7)
		}
		for i := range maxCarriers + more {
			if i > 0 || more == 0 {
				log.server(`"id":%d,"result":{}`, i)
			}
		}
		log.server(progress, 7, "1")
		if _, found, _ := log.outcome(t, progressAfterAnswer, mcp.V2025_11_25); found != 1-more {
			t.Errorf("%d requests: %d findings", maxCarriers+more, found)
		}
	}
}

func TestClaimsAreBounded(t *testing.T) {
	log := &talk{plain: true}
	log.client(`"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}`)
	log.server(`"id":0,"result":{"protocolVersion":"2025-11-25"}`)
	for i := range maxClaims + 9 {
		log.server(progress, i, "1")
	}
	if _, found, _ := log.outcome(t, progressKnownToken, mcp.V2025_11_25); found != maxClaims {
		t.Errorf("%d findings", found)
	}
}

func TestProgressBeyondNumbers(t *testing.T) {
	for value, want := range map[string]int{"1e400": 0, "9007199254740993.5": 0, "9007199254740992.5": 1, "9007199254740992": 0, "9007199254740991": 1} {
		log := new(talk)
		log.client(carries, 1, 7)
		log.server(progress, 7, "9007199254740992.5")
		log.server(progress, 7, value)
		if _, found, _ := log.outcome(t, progressIncreases, mcp.V2025_11_25); found != want {
			t.Errorf("%s: %d findings", value, found)
		}
	}
}

func TestIDSet(t *testing.T) {
	var s idSet
	for i := range maxLoose + 64 { // some may have the same half of a key
		text := fmt.Appendf(nil, `"%d"`, i)
		s.add(text, judge.Hash(text))
	}
	if !s.full() || len(s.loose) != maxLoose {
		t.Errorf("%d ids", len(s.loose))
	}
	s.add([]byte(`"more"`), 1)
	if d := (&claim{key: 2}); len(s.loose) != maxLoose || !d.in(&s) {
		t.Errorf("a full set does not say that it may hold an id")
	}
}
