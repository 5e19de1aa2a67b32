# make build   ./mcpsnoop
# make test    what README tells: needs Go and nothing else
# make lint    gofmt, vet, staticcheck
# make race    the tests again under the race detector (needs a C compiler)
# make cover   every branch of the checks is shown by their own captures
# make cross   builds for the other systems we support
# make e2e     real clients and servers, load: needs ../shared, Node and Python
# make bench   the budgets of docs/performance.md, some ten minutes: needs ../shared

GO          ?= go
SHARED      ?= ../shared
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
OTHERS       = darwin/arm64 darwin/amd64 windows/amd64 linux/arm64

.PHONY: build test lint race cover cross e2e bench clean

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o mcpsnoop ./cmd/mcpsnoop

test:
	$(GO) test ./...

lint:
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); test -z "$$out" || { echo "not formatted:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags e2e ./e2e
	$(STATICCHECK) ./...
	$(STATICCHECK) -tags e2e ./e2e

race:
	GORACE=atexit_sleep_ms=0 $(GO) test -race ./...

cover:
	@mkdir -p .cache
	$(GO) test ./internal/checks -skip 'TestCorpus|TestRealLogs|TestVisible|TestLiveIsOffline' -coverprofile=.cache/checks.cover
	@! grep ' [1-9][0-9]* 0$$' .cache/checks.cover

cross:
	@set -e; for t in $(OTHERS); do echo "build $$t"; \
		GOOS=$${t%/*} GOARCH=$${t#*/} CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/mcpsnoop; done

# Built out of tree: it belongs to the shared parts, not to this module.
bin/tapbench: FORCE
	$(GO) build -C $(SHARED)/bench -buildvcs=false -o "$(CURDIR)/bin/tapbench" .

# The floor must be another file than the load that measures it: programs of one file
# share caches, which no other proxy can (docs/decisions/http.md).
bin/tapbench-floor: FORCE
	CGO_ENABLED=0 $(GO) build -C $(SHARED)/bench -buildvcs=false -o "$(CURDIR)/bin/tapbench-floor" .

e2e: build bin/tapbench
	$(SHARED)/realparts/install.sh
	./e2e/install.sh
	MCPSNOOP=$(CURDIR)/mcpsnoop SHARED=$(abspath $(SHARED)) E2E_PARTS=$(CURDIR)/.cache/e2e TAPBENCH=$(CURDIR)/bin/tapbench \
		$(GO) test -tags e2e -count=1 -timeout 20m -v ./e2e

# BENCHFLAGS=-write records the table in docs/performance.md.
bench: build bin/tapbench bin/tapbench-floor
	$(GO) run ./bench -mcpsnoop ./mcpsnoop -tapbench bin/tapbench -floor bin/tapbench-floor $(BENCHFLAGS)

clean:
	rm -rf mcpsnoop bin .cache

FORCE:
