# Targets are printed from the comments after ##.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

FUZZTIME  ?= 10s # for each fuzz target
FUZZIN    ?= .   # folder to look for fuzz targets in
STORMS    ?= 50  # seeds of make faults, for each database
BENCHTIME ?= 1s  # for each benchmark
KILLS     ?= 200 # for each database
CRASHFLAGS ?=    # such as -seed 7, -rate 100, -json
MODELTIME ?= 5m  # for the log of each database against its model
TESTFLAGS ?=     # such as -run, -v, -count=1

# The binary says which commit it is, where git can tell.
STAMP := $(if $(shell git rev-parse HEAD 2>/dev/null),true,false)

.PHONY: help build demo test check race crash faults lanes brownouts fuzz model bench backlog retention writers golden postgres browser

help: ## print what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */\1\t/' | expand -t 10

build: ## build bin/tidings
	go build -trimpath -buildvcs=$(STAMP) -o bin/tidings ./cmd/tidings

demo: build ## run the whole service on this machine, with simulated providers
	bin/tidings demo

test: postgres browser ## run every test, on SQLite and on PostgreSQL
	go test -timeout 30m $(strip $(TESTFLAGS)) ./...

# What needs a database, a broker or many virtual hours is left to make test.
QUICK = $$(go list ./... | grep -vE '/(api|workers|channels/email/smtp|internal/(app|bench|browser|faults/crash|faults/fleet|faults/points|intake|lanes|playground|store))$$')

check: ## format, vet, lint, rules of the house and quick tests, within a minute
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; }
	go vet ./...
	go tool -modfile=internal/tools/go.mod staticcheck ./...
	go test $(QUICK)

race: postgres browser ## run every test under the race detector
	go test -race $(strip $(TESTFLAGS)) ./...

crash: postgres ## kill the running service KILLS (200) times on each database, and prove that nothing is lost
	go run ./internal/faults/crash -engine sqlite -kills $(strip $(KILLS)) $(strip $(CRASHFLAGS))
	go run ./internal/faults/crash -engine postgres -kills $(strip $(KILLS)) $(strip $(CRASHFLAGS))

faults: postgres ## let the service die at every point where it meets the outside, and ride STORMS (50) of failures, on both databases
	TIDINGS_POINTS=all TIDINGS_STORMS=$(strip $(STORMS)) go test -count=1 -timeout 4h -v ./internal/faults/points | grep -vE '=== |--- PASS: .*/.*/.*/'

lanes: postgres ## delete all files of the broker in the middle of 50,000 deliveries, running and stopped
	TIDINGS_LOST_LANES=50000 go test -count=1 -timeout 1h -v -run 'BrokersFiles' ./internal/app | grep -E '^ *(---|ok|FAIL|panic|.*deliveries;)'

brownouts: postgres ## let a provider fail for ten minutes in a blast, wholly and by half, on each database
	TIDINGS_BROWNOUTS=all go test -count=1 -timeout 1h -v -run 'BrownOut' ./internal/app ./workers | grep -E '^ *(---|ok|FAIL|panic|.*(calls|left))'

fuzz: ## run every fuzz target for FUZZTIME (10s), in FUZZIN (everywhere)
	@.ci/fuzz $(strip $(FUZZTIME)) $(strip $(FUZZIN))

model: postgres ## compare what the log does with its model for MODELTIME (5m) on each database
	go test -count=1 -timeout 0 -v -run TestTheLogDoesWhatItsModelSays ./internal/store -model $(strip $(MODELTIME)) -rapid.checks 1000000

bench: ## run every benchmark for BENCHTIME (1s)
	go test -run '^$$' -bench . -benchmem -benchtime $(strip $(BENCHTIME)) ./...

backlog: postgres ## what a million deliveries that wait cost the dispatcher and the running service, on each database
	go test -run '^$$' -bench AMillionWaiting -benchtime 20x ./internal/store
	TIDINGS_BACKLOG=1000000 go test -count=1 -timeout 1h -v -run ABacklogInTheLog ./internal/faults/fleet | grep -E '^ *(---|ok|FAIL|panic|.*(codes|beside|while|put into|fell due))'

retention: postgres ## how long priority commits take while the detail of a day of a million is deleted, on each database
	go test -run '^$$' -bench CommitsBesideRetention -benchtime 2000x -timeout 1h ./workers

writers: ## let fifty callers write in every way for a minute, on SQLite
	TIDINGS_WRITERS=60s go test -count=1 -timeout 10m -v -run FiftyCallers ./internal/faults/fleet | grep -E '^ *(---|ok|FAIL|panic|.*answers)'

golden: postgres browser ## write the golden files anew; read the difference before you keep it
	TIDINGS_TEST_GOLDEN=write go test -count=1 ./...

# Tests start a PostgreSQL of their own, or use the one that TIDINGS_TEST_POSTGRES names.
postgres:
	@.ci/postgres

# Tests look at the pages with Chromium, or what TIDINGS_TEST_BROWSER names.
browser:
	@.ci/browser
