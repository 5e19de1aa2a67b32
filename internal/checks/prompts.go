package checks

import (
	"fmt"
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

var promptsImageContentEncoding = promptMedia("image", &judge.Check{
	ID:       "prompts.image-content-encoding",
	Title:    "images in prompts",
	Why:      "What is no base64, or no image, is refused by the model's provider, and the whole conversation with it.",
	Fix:      "Encode data with the standard alphabet and with padding, and name its type, such as image/png.",
	Convicts: "an image in a prompts/get result whose data is no string of padded standard base64, or whose mimeType is missing, not of the form type/subtype, or text, audio or the like",
	Exempts:  "types under application/, which are notes; whether the data is what the type says",
})

var promptsAudioContentEncoding = promptMedia("audio", &judge.Check{
	ID:       "prompts.audio-content-encoding",
	Title:    "audio in prompts",
	Why:      "What is no base64, or no audio, is refused by the model's provider, and the whole conversation with it.",
	Fix:      "Encode data with the standard alphabet and with padding, and name its type, such as audio/wav.",
	Convicts: "audio in a prompts/get result whose data is no string of padded standard base64, or whose mimeType is missing, not of the form type/subtype, or text, an image or the like",
	Exempts:  "types under application/ and video/, whose containers may hold sound alone: those are notes; whether the data is what the type says",
})

// promptMedia makes a check judge blocks of a type in prompts.
func promptMedia(of string, c *judge.Check) *judge.Check {
	c.On = []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
		eachPromptContent(e, func(block jsontree.Node) {
			if typed(block, of) {
				media(e, block, of, of+" in a prompt")
			}
		})
	}}}
	return c
}

var promptsEmbeddedResourceShape = &judge.Check{
	ID:       "prompts.embedded-resource-shape",
	Title:    "resources embedded in prompts",
	Why:      "Clients show a resource by its type and find it again by its URI; one with neither text nor data is nothing to the model.",
	Fix:      "Send uri, mimeType and one of text and blob, blob in padded standard base64.",
	Convicts: "a resource in a prompts/get result without a URI with a scheme, without mimeType, with both or neither of text and blob, or with a blob that is no base64",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
		eachPromptContent(e, func(block jsontree.Node) {
			if typed(block, "resource") {
				judgeEmbedded(e, block.Get("resource"))
			}
		})
	}}},
}

func judgeEmbedded(e *judge.Event, r jsontree.Node) {
	if !r.Exists() {
		e.Bad("content of type resource without a resource")
		return
	}
	good := true
	bad := func(detail string) {
		e.Bad(detail)
		good = false
	}
	if uri, ok := r.Get("uri").StrBytes(); !ok {
		bad("embedded resource without a URI")
	} else if !hasScheme(uri) {
		bad(fmt.Sprintf("URI %s of an embedded resource has no scheme as RFC 3986 wants it", quote(uri)))
	}
	if r.Get("mimeType").Kind() != jsontree.String {
		bad("embedded resource without a mimeType")
	}
	text, blob := r.Get("text").Exists(), r.Get("blob").Exists()
	switch {
	case text && blob:
		bad("embedded resource with both text and blob")
	case !text && !blob:
		bad("embedded resource with neither text nor blob")
	case blob:
		if fault := base64Fault(r.Get("blob")); fault != "" {
			bad("blob of an embedded resource " + fault)
		}
	}
	if good {
		e.OK()
	}
}

// required are the arguments that prompts cannot do without.
type required struct {
	of      map[uint64]needs // by hash of the prompt's name
	changed uint64           // seq of the last notice that the list changed
}

type needs struct {
	asked uint64 // seq of the request whose answer said so
	names []string
}

// Limits of what is remembered of prompts. More prompts, and all are forgotten; of a
// prompt the first arguments are remembered, and none with a long name.
const (
	maxPrompts  = 1 << 12
	maxRequired = 32
	maxArgName  = 128
)

// lacking keeps with a prompts/get which required arguments it does not have; an empty
// list if it has all.
var lacking judge.Slot[[]string]

var promptsArgumentsValidated = &judge.Check{
	ID:       "prompts.arguments-validated",
	Title:    "prompts without their required arguments",
	Why:      "A prompt with a hole in it goes to the model, and nobody sees that something was missing.",
	Fix:      "Answer a prompts/get without a required argument with error -32602.",
	Convicts: "a result for a prompt that was listed with a required argument before, and was asked for without it",
	Exempts:  "prompts without required arguments; lists that were said to have changed since; the value of an argument; questions to the client",
	New:      func() any { return &required{of: map[uint64]needs{}} },
	On: []judge.On{
		{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/list"}, Do: learnRequired},
		{Kind: judge.Notification, From: judge.Server, Methods: []string{"notifications/prompts/list_changed"}, Do: func(e *judge.Event) {
			judge.State[*required](e).changed = e.Seq
		}},
		{Kind: judge.Request, From: judge.Client, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
			s := judge.State[*required](e)
			name, _ := e.Msg.Params.Get("name").StrBytes()
			n, ok := s.of[judge.Hash(name)]
			if !ok || n.asked < s.changed {
				return
			}
			given, missing := e.Msg.Params.Get("arguments"), []string(nil)
			for _, name := range n.names {
				if !given.Get(name).Exists() {
					missing = append(missing, name)
				}
			}
			lacking.Put(e.Request, missing)
		}},
		{Kind: judge.Result, From: judge.Server, Methods: []string{"prompts/get"}, Do: func(e *judge.Event) {
			missing, ok := lacking.Get(e.Request)
			switch {
			case !ok || judge.State[*required](e).changed > e.Request.Seq || !isComplete(e):
			case missing == nil:
				e.OK()
			default:
				e.Badf("prompt %s was served without its required arguments: %s", quote(e.Request.Target), quote(strings.Join(missing, ", ")))
			}
		}},
	},
}

func learnRequired(e *judge.Event) {
	s := judge.State[*required](e)
	for prompt := range e.Msg.Result.Get("prompts").Elements() {
		name, ok := prompt.Get("name").StrBytes()
		if !ok {
			continue
		}
		n := needs{asked: e.Request.Seq}
		for arg := range prompt.Get("arguments").Elements() {
			name, ok := arg.Get("name").Str()
			if ok && len(name) <= maxArgName && len(n.names) < maxRequired && isTrue(arg.Get("required")) {
				n.names = append(n.names, name)
			}
		}
		h := judge.Hash(name)
		if n.names == nil {
			delete(s.of, h)
			continue
		}
		makeRoom(s.of, maxPrompts)
		s.of[h] = n
	}
}
