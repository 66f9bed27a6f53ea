# Everything a person or CI runs. 'make test' is the whole; the others are parts of it.
GO      ?= go
PKGS    ?= ./...
FUZZ    ?= 10s
SOAK    ?= 10m
SOAK_NFS ?= 4m
SHELL   := /bin/bash

.PHONY: build test lint unit bench fuzz deps soak soak-nfs nfs test-nfs test-zk explore

build:            ## the static binary, bin/qrunner
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/qrunner ./cmd/qrunner

test: deps lint unit nfs   ## everything, with the peers it can get

deps:             ## as root: install the Debian packages that the tests with real peers need
	.ci/deps

lint:             ## formatting, vet, staticcheck, a tidy go.mod
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo 'gofmt -w these'; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)

unit:             ## all tests, with the race detector and in random order; more seeds
	GO="$(GO)" .ci/unit $(PKGS)

soak:             ## two real daemons, killed, paused and restarted under load, for SOAK (default 10m)
	SOAK=$(SOAK) $(GO) test -count=1 -timeout 5h -v -run '^TestSoak$$' ./cmd/qrunner/e2e

soak-nfs:         ## as root: two daemons on real kernel NFS, each on a machine of its own, all faults in turn, for SOAK_NFS (default 4m)
	SOAK_NFS=$(SOAK_NFS) .ci/nfs/run soak

nfs:              ## as root: a slice of test-nfs, three minutes; says what it leaves out where it cannot
	.ci/nfs/run quick

test-nfs:         ## as root: the locks on real kernel NFS, with faults (docs/locking.md)
	.ci/nfs/run full

test-zk:          ## the ZooKeeper lock on real servers, with the tests that take minutes (docs/zookeeper.md)
	ZOOKEEPER_LONG=1 $(GO) test -race -cpu 1 -count=1 -timeout 1h -v -run '^TestEnsemble$$' ./locking/zklock
	ZOOKEEPER_LONG=1 $(GO) test -count=1 -timeout 1h -v -run '^TestZooKeeper' ./cmd/qrunner/e2e

explore:          ## the locks under many more schedules (docs/locking.md)
	EXPLORE_DEVIATIONS=2 EXPLORE_RUNS=5000 $(GO) test -timeout 5h ./locking/explore
	$(GO) test ./locking/lockfile -run TestExplore -lockfile.seeds 500

fuzz:             ## each fuzz target for FUZZ (default 10s)
	.ci/fuzz $(FUZZ)

bench:            ## benchmarks; docs/benchmarks.md says how the peers are measured
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)
