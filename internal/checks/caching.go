package checks

import (
	"strings"

	"mcpsnoop/internal/jsontree"
	"mcpsnoop/internal/judge"
)

// cacheable are the operations whose results may be kept.
var cacheable = append([]string{"server/discover", "resources/read"}, listMethods...)

// isRetry keeps with a request that it brings what the server had asked for.
var isRetry judge.Slot[bool]

var cachingHintsOnCacheableResults = &judge.Check{
	ID:       "caching.hints-on-cacheable-results",
	Title:    "ttlMs and cacheScope of results that may be kept",
	Why:      "Without them a client has to guess for how long it may keep a list, and with whom it may share it; strict clients refuse the result.",
	Fix:      "Send ttlMs (0 if nothing may be kept) and cacheScope, \"private\" if the answer depends on who asks.",
	Convicts: "a complete result of server/discover, resources/read or one of the four lists without ttlMs, without cacheScope, or with a cacheScope that is neither public nor private",
	Exempts:  "answers to requests that carry inputResponses or requestState; the value of ttlMs, which is caching.ttl-non-negative's",
	On: []judge.On{
		{Kind: judge.Request, From: judge.Client, Methods: cacheable, Do: func(e *judge.Event) {
			if e.Msg.Params.Get("inputResponses").Exists() || e.Msg.Params.Get("requestState").Exists() {
				isRetry.Put(e.Request, true)
			}
		}},
		{Kind: judge.Result, From: judge.Server, Methods: cacheable, Do: func(e *judge.Event) {
			retry, _ := isRetry.Get(e.Request)
			if kind, _ := e.Msg.Result.Get("resultType").StrBytes(); retry || string(kind) != "complete" {
				return
			}
			var faults []string
			if !e.Msg.Result.Get("ttlMs").Exists() {
				faults = append(faults, "no ttlMs")
			}
			if scope := e.Msg.Result.Get("cacheScope"); !scope.Exists() {
				faults = append(faults, "no cacheScope")
			} else if scopeBit(scope) == 8 {
				faults = append(faults, "cacheScope "+quoteJSON(scope.Text())+", which is neither public nor private")
			}
			if faults != nil {
				e.Badf("complete result of %s has %s", e.Method, strings.Join(faults, " and "))
				return
			}
			e.OK()
		}},
	},
}

var cachingTTLNonNegative = &judge.Check{
	ID:       "caching.ttl-non-negative",
	Title:    "value of ttlMs",
	Why:      "Clients compute with it when to ask again; a negative or odd one makes them ask all the time, or never.",
	Fix:      "Send milliseconds as an integer from 0.",
	Convicts: "a ttlMs that is no number, has a fraction or is below 0",
	Exempts:  "how the number is spelled: 1000.0 is 1000; the ttlMs of a task, which is something else",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Do: func(e *judge.Event) {
		ttl := e.Msg.Result.Get("ttlMs")
		if !ttl.Exists() || tellsOfTask(e) {
			return
		}
		if !ttl.IsInt() || below0(ttl) {
			e.Badf("ttlMs %s is no integer from 0", quoteJSON(ttl.Text()))
			return
		}
		e.OK()
	}}},
}

// tellsOfTask reports whether a result tells of a task: those have a ttlMs of their own.
func tellsOfTask(e *judge.Event) bool {
	kind, _ := e.Msg.Result.Get("resultType").StrBytes()
	return string(kind) == "task" || strings.HasPrefix(e.Method, "tasks/")
}

// below0 reports whether an integral number is negative, however large.
func below0(n jsontree.Node) bool {
	value, ok := n.Int()
	return ok && value < 0 || !ok && n.Text()[0] == '-'
}

var cachingPageScopeConsistent = &judge.Check{
	ID:       "caching.page-scope-consistent",
	Title:    "cacheScope of the pages of one list",
	Why:      "A shared cache that keeps one page of a list and not the others hands out half of it, or what was meant for one user.",
	Fix:      "Send the same cacheScope with all pages: private as soon as one of them is.",
	Convicts: "a page that was asked for with a cursor of an earlier page and has another cacheScope than the first page, or has one where that had none",
	Exempts:  "pages whose cursor was given out by several listings with different scopes; traffic that several clients may share",
	On: []judge.On{{Kind: judge.Result, From: judge.Server, Methods: listMethods, Do: func(e *judge.Event) {
		p := &listsOf(e).page
		if !p.ok || !p.follows || !e.AsOneClient() {
			return
		}
		if p.scopes&p.scope == 0 {
			e.Badf("this page of %s has %s, its first page has %s", e.Method, scopeName(p.scope), scopeName(p.scopes))
			return
		}
		e.OK()
	}}},
}

func scopeName(scopes uint8) string {
	switch scopes {
	case 1:
		return "no cacheScope"
	case 2:
		return "cacheScope public"
	case 4:
		return "cacheScope private"
	}
	return "another cacheScope"
}
