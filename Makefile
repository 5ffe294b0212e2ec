# Every target works on a fresh clone: what it needs is installed or built first. `make` alone lists them.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# Node 24 and the development tools come from node_modules; the machine's own node may be an older one.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# demo and test never touch a cluster that they did not start.
own_cluster := env -u KUBECONFIG

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  %-14s %s\n", $$1, $$2}'

# ---- running it ----------------------------------------------------------------------------------------------------

.PHONY: up
up: node_modules cni ## start everything on loopback in the background (NODES=n, TLS=1, LISTEN=ADDR, KUBECONFIG with YES=1)
	@node test/harness/up.ts

.PHONY: certs
certs: node_modules ## an authority and a certificate for each part, in .cache/certs (CERTS=dir, NODES, ALLOCATORS, OPERATORS, RENEW=1)
	@node test/harness/certs.ts

.PHONY: down
down: node_modules ## stop what `up` started (PURGE=1: remove its data and what it installed, too)
	@node test/harness/down.ts

.PHONY: demo
demo: node_modules cni ## Pods with attachments get their addresses, end to end, on real parts
	@$(own_cluster) node test/demo/demo.ts

.PHONY: conformance
conformance: cni programs ## Kube-OVN's documented behaviour, case by case; exit status 1 when one fails (CASES=file: another file)
	@$(own_cluster) node test/conformance/main.ts $(CASES)

.PHONY: test
test: check cni programs node-packages ## checks, then unit, contract and end-to-end suites on real servers (SPEC=glob: only these)
	cd cni && go test ./...
	@$(own_cluster) mocha '$(SPEC)'

.PHONY: e2e-node
e2e-node: cni programs node-packages ## two whole nodes: kubelet, containerd, real sandboxes, power cuts (root; part of test)
	@$(own_cluster) mocha 'test/node/**/*.spec.ts'

.PHONY: chaos
chaos: SPEC = test/faults/*.spec.ts
chaos: cni programs ## the faults suite for hours: longer absences, more Pods, many rounds (ROUNDS=n, FAULT_SEED=n, SPEC=glob)
	@$(own_cluster) CHAOS=1 mocha '$(SPEC)'

.PHONY: bench
bench: programs ## verify, who-had, the read model, replay and bytes in etcd on 1,000,000 events, each beside its floor (LONG=1: 10,000,000; EVENTS=n, ROUNDS=n)
	@node test/bench/main.ts

# ---- what they need ------------------------------------------------------------------------------------------------

.PHONY: prerequisites
prerequisites: ## Debian packages; installed as root, else named
	@sh test/harness/prerequisites

# Where they can't be had, the suites that need them say so, and are skipped.
.PHONY: node-packages
node-packages:
	@sh test/harness/prerequisites node || true

.PHONY: node_modules
node_modules: node_modules/.package-lock.json

node_modules/.package-lock.json: package-lock.json | prerequisites
	npm ci --loglevel=error --no-update-notifier  # the packages bring Node 24: what npm's own Node cannot run is no concern
	@touch $@

.PHONY: programs
programs: node_modules ## the real servers and tools: found, else built (the first time about 5 minutes)
	@node test/harness/prepare.ts

.PHONY: cni
cni: .cache/dist/kube-ovn ## the CNI plugin

.cache/dist/kube-ovn: $(wildcard cni/*.go) cni/go.mod $(wildcard cni/go.sum) | prerequisites
	@mkdir -p $(@D)
	cd cni && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o ../$@ .

.PHONY: clean
clean: ## stop what `up` started and remove what was built (PURGE=1: up's data, too)
	@if [ -d .cache/up ]; then $(MAKE) --no-print-directory down; fi
	rm -rf node_modules .cache/bin .cache/dist .cache/demo

# ---- checks: format, lint, types, import directions, generated code ------------------------------------------------

folders := proto lib services cli test
SPEC ?= {proto,lib,services,cli,test}/**/*.spec.ts

.PHONY: check
check: node_modules ## format, lint and import directions, types, generated code, the Go plugin
	prettier --check --log-level warn .
	oxlint --quiet $(folders)
	tsc --noEmit
	node proto/generate.ts --check
	@test -z "$$(gofmt -l cni)" || { gofmt -d cni; exit 1; }
	cd cni && go vet ./...

.PHONY: format
format: node_modules ## lay out all sources
	prettier --write --log-level warn .
	gofmt -w cni

.PHONY: lint
lint: node_modules ## lint and import directions alone, mending what can be mended
	oxlint --fix $(folders)

.PHONY: generate
generate: node_modules ## write what follows from proto/ipledger.proto
	node proto/generate.ts
