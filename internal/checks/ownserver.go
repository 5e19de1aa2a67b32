package checks

import "mcpsnoop/internal/judge"

// serverTrackers keep what checks of lists share.
var serverTrackers = []*judge.Tracker{listings}

// ownServer are the clauses of the pages on what servers offer that no row covers.
var ownServer = []*judge.Clause{
	{ID: "TOOL-506", Own: true, In: handshake, Level: judge.Should, Actor: judge.Server, Gate: "server.tools.listChanged", Signal: judge.Advice, Section: "server/tools#list-changed-notification",
		Rule:   "A server that declared listChanged tells when its tools have changed.",
		Checks: by(toolsChangeAnnounced)},
	{ID: "TOOL-507", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/tools#list-changed-notification",
		Rule:   "A server tells those who listen for it when its tools have changed.",
		Checks: by(toolsChangeAnnounced)},
	{ID: "RES-504", Own: true, In: handshake, Level: judge.Should, Actor: judge.Server, Gate: "server.resources.listChanged", Signal: judge.Advice, Section: "server/resources#list-changed-notification",
		Rule:   "A server that promised to tell of changes tells when its resources have changed.",
		Checks: by(resourcesChangeAnnounced)},
	{ID: "RES-504", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/resources#list-changed-notification",
		Rule:   "A server that promised to tell of changes tells when its resources have changed.",
		Checks: by(resourcesChangeAnnounced)},
	{ID: "PROM-505", Own: true, In: handshake, Level: judge.Should, Actor: judge.Server, Gate: "server.prompts.listChanged", Signal: judge.Advice, Section: "server/prompts#list-changed-notification",
		Rule:   "A server that declared listChanged tells when its prompts have changed.",
		Checks: by(promptsChangeAnnounced)},
	{ID: "PROM-506", Own: true, In: in2026, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice, Section: "server/prompts#list-changed-notification",
		Rule:   "A server tells those who listen for it when its prompts have changed.",
		Checks: by(promptsChangeAnnounced)},
	{ID: "TOOL-534", Own: true, In: handshake | in2026, Level: judge.Must, Actor: judge.Server, Section: "server/tools#image-content",
		Rule:   "Images and audio in tool results are base64, with the MIME type of an image or of audio.",
		Checks: by(toolsMediaContent)},
	{ID: "SAMP-522", Own: true, In: handshake | in2026, Level: judge.Must, Actor: judge.Both, Section: "client/sampling#image-content",
		Rule:   "Images and audio in sampling messages are base64, with the MIME type of an image or of audio.",
		Checks: by(samplingMediaContent)},
}
