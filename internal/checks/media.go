package checks

import (
	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/mcp"
)

var toolsMediaContent = &judge.Check{
	ID:       "tools.media-content",
	Title:    "images and audio in tool results",
	Why:      "What is no base64, or of no fitting type, is refused by the model's provider, and the whole conversation with it.",
	Fix:      "Encode data with the standard alphabet and with padding, and name its type, such as image/png or audio/wav.",
	Convicts: "an image or audio block of a tools/call result whose data is no string of padded standard base64, or whose mimeType is missing, not of the form type/subtype, or of another kind altogether",
	Exempts:  "types under application/, and under video/ for audio, which are notes; audio at 2024-11-05, which has none",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: []string{"tools/call"}, Do: func(e *judge.Event) {
		for block := range e.Msg.Result.Get("content").Elements() {
			mediaBlock(e, block, "a tool result")
		}
	}}},
}

var samplingMediaContent = &judge.Check{
	ID:       "sampling.media-content",
	Title:    "images and audio in sampling",
	Why:      "What is no base64, or of no fitting type, is refused by the model's provider, and the request with it.",
	Fix:      "Encode data with the standard alphabet and with padding, and name its type, such as image/png or audio/wav.",
	Convicts: "an image or audio block of a sampling request or of its answer whose data is no string of padded standard base64, or whose mimeType is missing, not of the form type/subtype, or of another kind altogether",
	Exempts:  "types under application/, and under video/ for audio, which are notes; audio at 2024-11-05, which has none; tool results inside of messages",
	On: []judge.On{
		{Kind: judge.Request, From: judge.Server, Methods: []string{"sampling/createMessage"}, Do: func(e *judge.Event) {
			mediaMessages(e, e.Msg.Params.Get("messages"))
		}},
		{Kind: judge.Result, From: judge.Client, Methods: []string{"sampling/createMessage"}, Do: func(e *judge.Event) {
			mediaBlocks(e, e.Msg.Result.Get("content"))
		}},
		{Kind: judge.Result, From: judge.Server, Methods: mayAsk, Do: func(e *judge.Event) {
			for _, asked := range e.Msg.Result.Get("inputRequests").Members() {
				if method, _ := asked.Get("method").StrBytes(); string(method) == "sampling/createMessage" {
					mediaMessages(e, asked.Path("params", "messages"))
				}
			}
		}},
		{Kind: judge.Request, From: judge.Client, Methods: mayAsk, Do: func(e *judge.Event) {
			for _, given := range e.Msg.Params.Get("inputResponses").Members() {
				if given.Get("role").Kind() == jsontree.String { // only answers to sampling have one
					mediaBlocks(e, given.Get("content"))
				}
			}
		}},
	},
}

// mayAsk are the requests that servers may answer with questions.
var mayAsk = []string{"tools/call", "prompts/get", "resources/read"}

func mediaMessages(e *judge.Event, messages jsontree.Node) {
	eachContent(messages, func(content jsontree.Node) { mediaBlocks(e, content) })
}

func mediaBlocks(e *judge.Event, content jsontree.Node) {
	oneOrMore(content, func(block jsontree.Node) { mediaBlock(e, block, "a sampling message") })
}

// mediaBlock judges a block if it is an image or audio.
func mediaBlock(e *judge.Event, block jsontree.Node, where string) {
	kind, _ := block.Get("type").StrBytes()
	switch string(kind) {
	case "image":
		media(e, block, "image", "image in "+where)
	case "audio":
		if e.Revision != mcp.V2024_11_05 {
			media(e, block, "audio", "audio in "+where)
		}
	}
}
