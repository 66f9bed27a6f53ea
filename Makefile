# Everything a person or CI runs. 'make test' is the whole; the others are parts of it.
GO      ?= go
PKGS    ?= ./...
FUZZ    ?= 10s
SHELL   := /bin/bash

.PHONY: build test lint unit bench fuzz deps

build:            ## the static binary, bin/qrunner
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/qrunner ./cmd/qrunner

test: deps lint unit   ## everything, with the peers it can get

deps:             ## as root: install the Debian packages that the tests with real peers need
	.ci/deps

lint:             ## formatting, vet, staticcheck, a tidy go.mod
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo 'gofmt -w these'; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)

unit:             ## all tests, with the race detector and in random order
	$(GO) test -race -shuffle=on -timeout 30m $(PKGS)

fuzz:             ## each fuzz target for FUZZ (default 10s)
	.ci/fuzz $(FUZZ)

bench:            ## benchmarks; docs/benchmarks.md says how the peers are measured
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)
