package checks

import "mcpsnoop/internal/judge"

// ownHeaders are clauses on headers that no conformance row covers.
var ownHeaders = []*judge.Clause{
	{ID: "TRAN-569", In: in2026, Own: true, Level: judge.Must, Actor: judge.Client, Signal: judge.Mismatch,
		Section: "basic/transports/streamable-http#server-behavior-for-custom-headers",
		Rule:    "An argument that is null or absent has no Mcp-Param-* header.",
		Checks:  by(transportNoParamHeaderForNothing)},
	{ID: "TRAN-572", In: in2026, Own: true, Level: judge.Must, Actor: judge.Server,
		Section: "basic/transports/streamable-http#server-validation",
		Rule:    "A server refuses a request that lacks a required header, and decodes the encoded ones before it compares them.",
		Checks:  by(transportMissingHeaderRejected, transportEncodedHeaderDecoded)},
	{ID: "TRAN-574", In: in2026, Own: true, Level: judge.Should, Actor: judge.Server, Signal: judge.Advice,
		Section: "basic/transports/streamable-http#server-validation",
		Rule:    "A server compares integers in headers by number, not by text.",
		Checks:  by(transportIntegerHeaderCompared)},
	{ID: "VERS-507", In: in2026, Own: true, Level: judge.Must, Actor: judge.Server,
		Section: "basic/versioning#protocol-version-negotiation",
		Rule:    "An unsupported version error names the version that was requested.",
		Checks:  by(transportUnsupportedVersionNamed)},
	{ID: "TOOL-520", In: in2026, Own: true, Level: judge.Must, Actor: judge.Server,
		Section: "basic/transports/streamable-http#schema-extension",
		Rule:    "x-mcp-header stands only on properties that are reached from the root of the schema through properties.",
		Checks:  by(transportXMCPHeaderReachable)},
}

// headerTrackers keep what checks of headers share.
var headerTrackers = []*judge.Tracker{toolHeaders, postedHeaders}
