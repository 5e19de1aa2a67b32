package checks

import (
	"bytes"
	"slices"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
	"mcpsnoop/internal/session"
)

// refusal is the newest list of versions that a server gave when it refused one.
type refusal struct {
	told     bool
	at       session.Instant
	versions []uint64 // hashes
	modern   bool     // none of them has a handshake
}

// maxRefusal is how many versions of a list are remembered; of longer ones none.
const maxRefusal = 64

var versioningRetryUsesSupportedVersion = &judge.Check{
	ID:       "versioning.retry-uses-supported-version",
	Title:    "version after one was refused",
	Why:      "The server will refuse each request of a version that it does not list.",
	Fix:      "Take a version from data.supported of the error, or give up.",
	Convicts: "a request sent after the refusal whose version is not in the list, or an initialize though the list has no version with a handshake",
	Exempts:  "requests that may have been on their way; traffic of several clients",
	New:      func() any { return new(refusal) },
	On: []judge.On{
		{Kind: judge.Error, From: judge.Server, Do: func(e *judge.Event) {
			if code, _ := e.Msg.Error.Get("code").Int(); code != mcp.UnsupportedVersion {
				return
			}
			list := e.Msg.Error.Path("data", "supported")
			if list.Kind() != jsontree.Array || list.Len() == 0 {
				return
			}
			r := refusal{told: list.Len() <= maxRefusal, at: e.At, modern: true}
			for v := range list.Elements() {
				text, ok := v.StrBytes()
				r.told = r.told && ok
				r.modern = r.modern && !mcp.HasHandshake(mcp.ParseRevision(string(text)))
				if r.told {
					r.versions = append(r.versions, judge.Hash(text))
				}
			}
			*judge.State[*refusal](e) = r
		}},
		{Kind: judge.Request, From: judge.Client, Do: func(e *judge.Event) {
			r := judge.State[*refusal](e)
			version := e.Request.Version
			if !r.told || e.Method != "initialize" && version == "" || !e.AsOneClient() || !e.Follows(judge.Server, r.at) {
				return
			}
			switch {
			case e.Method == "initialize" && r.modern && e.OneClient():
				e.Bad("initialize was sent to a server whose versions all do without it")
			case version == "":
			case !slices.Contains(r.versions, judge.Hash([]byte(version))):
				e.Badf("request %s declares version %s, which the server does not list as supported", e.Request.ID, quote(version))
			default:
				e.OK()
			}
		}},
	},
}

var versioningExtensionIdentifierFormat = &judge.Check{
	ID:       "versioning.extension-identifier-format",
	Title:    "names of extensions",
	Why:      "Names without a prefix of their owner clash, and the other side may refuse what it cannot read.",
	Fix:      "Name the extension with a domain that you own, back to front: com.example/name.",
	Convicts: "a declared extension whose name has no prefix or breaks the rules of _meta keys",
	On: []judge.On{
		{Kind: judge.Asking, From: judge.Client, Do: func(e *judge.Event) {
			judgeExtensions(e, e.Meta().Get(mcp.MetaClientCapabilities))
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"server/discover"}, Do: func(e *judge.Event) {
			judgeExtensions(e, e.Msg.Result.Get("capabilities"))
		}},
	},
}

func judgeExtensions(e *judge.Event, capabilities jsontree.Node) {
	extensions := capabilities.Get("extensions")
	if extensions.Kind() != jsontree.Object {
		return
	}
	for name := range extensions.Members() {
		if fault := extensionFault(name.Bytes()); fault != "" {
			e.Badf("extension %s: %s", quote(name.Bytes()), fault)
			continue
		}
		e.OK()
	}
}

// extensionFault says what is wrong with the name of an extension, "" if nothing is: it must be
// what a key of _meta with a prefix may be.
func extensionFault(name []byte) string {
	if bytes.IndexByte(name, '/') < 0 {
		return "it has no prefix"
	}
	return metaKeyFault(name)
}

var versioningInitializeErrorNamesVersions = &judge.Check{
	ID:       "versioning.initialize-error-names-versions",
	Title:    "refusal of initialize",
	Why:      "A client with a handshake cannot ask for versions: the error is all that tells its user what to update.",
	Fix:      "Name the supported versions in the message or the data of the error.",
	Convicts: "initialize refused with an error that names no version, where the revision to judge at was given",
	Exempts:  "servers that may speak a revision with a handshake",
	On: []judge.On{{Kind: judge.Error, From: judge.Server, Methods: []string{"initialize"}, Do: func(e *judge.Event) {
		switch {
		case !e.Pinned():
		case namesDate(e.Msg.Error):
			e.OK()
		default:
			e.Bad("initialize was refused with an error that names no version")
		}
	}}},
}

// namesDate reports whether some string in a value holds a date.
func namesDate(node jsontree.Node) bool {
	switch node.Kind() {
	case jsontree.String:
		text, _ := node.Str()
		for i := 0; i+10 <= len(text); i++ {
			if judge.IsDate(text[i : i+10]) {
				return true
			}
		}
	case jsontree.Array:
		for item := range node.Elements() {
			if namesDate(item) {
				return true
			}
		}
	case jsontree.Object:
		for _, item := range node.Members() {
			if namesDate(item) {
				return true
			}
		}
	}
	return false
}
