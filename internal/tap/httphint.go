package tap

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"mcpsnoop/internal/term"
)

// hints tells once, in one line, that authorization will not work through us and why.
type hints struct {
	given  bool
	names  ourNames
	origin string // ours, as clients know it
}

const protectedResource = wellKnown + "oauth-protected-resource"

// challenge looks at what an answer demands.
func (h *hints) challenge(w *writer, ex *exchange) {
	if h.given || len(ex.answered["Www-Authenticate"]) == 0 {
		return
	}
	for _, value := range ex.answered["Www-Authenticate"] {
		const name = "resource_metadata="
		i := strings.Index(strings.ToLower(value), name)
		if i < 0 {
			continue
		}
		u := strings.TrimPrefix(value[i+len(name):], `"`)
		if end := strings.IndexAny(u, "\", "); end >= 0 {
			u = u[:end]
		}
		h.foreign(w, u)
	}
}

// metadata looks at a document about a protected resource.
func (h *hints) metadata(w *writer, ex *exchange, body []byte) {
	if h.given || ex.status != 200 || !strings.HasPrefix(ex.path, protectedResource) || len(body) > 1<<20 {
		return
	}
	var doc struct {
		Resource string `json:"resource"`
	}
	if json.Unmarshal(body, &doc) == nil {
		h.foreign(w, doc.Resource)
	}
}

// foreign says so if a URL is not of our origin.
func (h *hints) foreign(w *writer, text string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme == "http" && h.names.ours(u.Host, nil) {
		return
	}
	h.given = true
	w.notify(fmt.Sprintf("mcpsnoop: hint: the server says that it is %s, not %s, and strict clients will refuse to authorize: "+
		"try --preserve-host, or give the server our URL as its public one, or the client a token of its own",
		term.Escape(originOf(u)), h.origin))
}
