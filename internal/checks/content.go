package checks

import (
	"bytes"
	"fmt"
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

// typed reports whether a content block is of a type.
func typed(block jsontree.Node, name string) bool {
	text, ok := block.Get("type").StrBytes()
	return ok && string(text) == name
}

// oneOrMore calls do with a value itself, or with the elements of an array.
func oneOrMore(n jsontree.Node, do func(jsontree.Node)) {
	if n.Kind() != jsontree.Array {
		do(n)
		return
	}
	for v := range n.Elements() {
		do(v)
	}
}

// eachContent calls do with the content of each message of a list.
func eachContent(messages jsontree.Node, do func(jsontree.Node)) {
	for m := range messages.Elements() {
		do(m.Get("content"))
	}
}

// eachPromptContent calls do with the content of each message of a prompts/get result.
func eachPromptContent(e *judge.Event, do func(jsontree.Node)) {
	eachContent(e.Msg.Result.Get("messages"), do)
}

// isTrue reports whether a value is true, and not just something like it.
func isTrue(n jsontree.Node) bool {
	value, ok := n.Bool()
	return ok && value
}

// isComplete reports whether a result is what was asked for: no round of questions to the
// client, and no task that will have it.
func isComplete(e *judge.Event) bool {
	if kind, ok := e.Msg.Result.Get("resultType").StrBytes(); ok && string(kind) != "complete" {
		return false
	}
	return e.Msg.Result.Get("task").Kind() != jsontree.Object
}

// hasScheme reports whether a URI begins as RFC 3986 wants.
func hasScheme(uri []byte) bool {
	scheme, _, ok := bytes.Cut(uri, []byte(":"))
	return ok && schemeChars(scheme)
}

// schemeChars reports whether text can be a scheme, or the beginning of one.
func schemeChars(scheme []byte) bool {
	for i, c := range scheme {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return len(scheme) > 0
}

// inBase64 marks the bytes of the standard alphabet.
var inBase64 = func() (t [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = true
	}
	return t
}()

// base64Fault says what keeps a value from being a string of padded standard base64, ""
// if nothing does.
func base64Fault(n jsontree.Node) string {
	text, ok := n.StrBytes()
	switch {
	case !n.Exists():
		return "is missing"
	case !ok:
		return "is no string"
	case len(text)%4 != 0:
		return fmt.Sprintf("is no padded base64: %d characters, not a multiple of 4", len(text))
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("=")), []byte("="))
	for i, c := range text {
		if !inBase64[c] {
			return fmt.Sprintf("is no standard base64: byte 0x%02x at offset %d", c, i)
		}
	}
	return ""
}

// mimeFault says what keeps a value from being the MIME type of an image or of audio, "" if
// nothing does. doubt says that the type is odd, and may be right all the same: containers
// such as application/ogg or video/webm may hold no more than sound.
func mimeFault(n jsontree.Node, of string) (fault string, doubt bool) {
	text, ok := n.Str()
	top, sub, slash := strings.Cut(text, "/")
	switch {
	case !n.Exists():
		return "is missing", false
	case !ok:
		return "is no string", false
	case !slash || top == "" || sub == "":
		return fmt.Sprintf("%s is not of the form type/subtype", quote(text)), false
	case strings.EqualFold(top, of):
		return "", false
	case strings.EqualFold(top, "application"), of == "audio" && strings.EqualFold(top, "video"):
		return fmt.Sprintf("%s names no type of %s", quote(text), of), true
	}
	return fmt.Sprintf("%s is no type of %s", quote(text), of), false
}

// media judges the data and the MIME type of a block of type image or audio; what says
// where it stands.
func media(e *judge.Event, block jsontree.Node, of, what string) {
	good := true
	if fault := base64Fault(block.Get("data")); fault != "" {
		e.Badf("data of %s %s", what, fault)
		good = false
	}
	switch fault, doubt := mimeFault(block.Get("mimeType"), of); {
	case doubt:
		e.Notef("mimeType of %s %s", what, fault)
	case fault != "":
		e.Badf("mimeType of %s %s", what, fault)
		good = false
	}
	if good {
		e.OK()
	}
}
