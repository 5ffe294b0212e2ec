# Every target works on a fresh clone: it first installs or builds what it needs. `make` lists all targets.

.DEFAULT_GOAL := help
SHELL := /bin/sh

# Node 24 and the development tools come from node_modules; the machine's own node may be an older one.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
export SPEC

# Node caches compiled sources: the programs of tests and demo start in half the time.
export NODE_COMPILE_CACHE := $(CURDIR)/.cache/compiled

# demo and test never use a cluster that they did not start.
own_cluster := env -u KUBECONFIG

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | awk -F'\t' '{printf "  %-16s %s\n", $$1, $$2}'

# ---- run ----------------------------------------------------------------------------------------------------

.PHONY: up
up: prerequisites node_modules cni ## start all servers on loopback in the background (NODES=n, TLS=1, LISTEN=ADDR, KUBECONFIG with YES=1)
	@node local/up.ts

.PHONY: certs
certs: prerequisites node_modules ## a certificate authority and a certificate for each program, in .cache/certs (CERTS=dir, NODES, ALLOCATORS, OPERATORS, RENEW=1)
	@node local/certs.ts

.PHONY: down
down: node_modules ## stop the servers of `up` (PURGE=1: also remove its data and what it installed)
	@node local/down.ts

.PHONY: demo
demo: prerequisites node_modules cni ## Pods with attachments get their addresses, end to end, on real servers
	@$(own_cluster) node local/demo/demo.ts

.PHONY: console
console: prerequisites node_modules ## the console on a generated history of two weeks, open on this machine until Ctrl-C (EVENTS=n, PODS=n)
	@$(own_cluster) node local/console.ts

.PHONY: conformance
conformance: cni programs ## Kube-OVN's documented behaviour, case by case; exit status 1 when one fails (CASES=file: another file)
	@$(own_cluster) node test/conformance/main.ts $(CASES)

# Runs one tier, or SPEC=glob. WATCH=1 repeats it after each change, JOBS=n runs so many files at a time.
specs := $(own_cluster) node test/main.ts

.PHONY: test
test: check cni programs node-packages monitoring-packages ovn-packages browser-packages ## checks, then all specs on real servers (SPEC=glob: only these; JOBS=n: so many files at a time)
	cd cni && go test ./...
	@$(specs)

.PHONY: test-unit
test-unit: node_modules ## specs without a process or a socket: seconds, and nothing to build (WATCH=1: again on each change)
	@$(specs) unit

.PHONY: test-int
test-int: cni programs monitoring-packages ovn-packages ## specs on one real server (WATCH=1: again on each change)
	@$(specs) int

.PHONY: test-e2e
test-e2e: cni programs node-packages monitoring-packages ovn-packages browser-packages ## specs on several real servers
	@$(specs) e2e

.PHONY: e2e-node
e2e-node: SPEC = test/node/**/*.spec.ts
e2e-node: cni programs node-packages ## two nodes with kubelet, containerd, real sandboxes, power cuts (root; part of test)
	@$(specs)

.PHONY: e2e-ipamclaim
e2e-ipamclaim: SPEC = test/e2e/owners/ipam-claim.e2e.spec.ts
e2e-ipamclaim: cni programs ## IPAMClaims keep their addresses from one Pod to the next, on a real API server (part of test)
	@$(specs)

.PHONY: e2e-trace
e2e-trace: SPEC = {test/e2e/traces.e2e,lib/tracing/open-tracing.int}.spec.ts
e2e-trace: cni programs ## one trace from a Pod's first sight to its bound address, at a real OTLP receiver (part of test)
	@$(specs)

.PHONY: e2e-tls
e2e-tls: SPEC = test/e2e/{cert-manager,agent-tokens,tls}.e2e.spec.ts
e2e-tls: cni programs ## certificates of cert-manager are renewed without a restart; agents with tokens of other nodes are refused (part of test)
	@$(specs)

.PHONY: alerts
alerts: SPEC = test/monitoring/alerts.*.spec.ts
alerts: node_modules ## each alert fires on its condition only, and has a runbook (promtool; part of test)
	@sh test/harness/prerequisites monitoring
	@$(specs)

.PHONY: dashboards
dashboards: SPEC = test/monitoring/dashboards.*.spec.ts
dashboards: cni programs ## every query of the dashboards and alerts on a real Prometheus that scrapes real programs (part of test)
	@sh test/harness/prerequisites monitoring
	@$(specs)

.PHONY: e2e-console
e2e-console: SPEC = test/console/*.spec.ts
e2e-console: programs ## the console in Chromium, on real servers: views, slider, keyboard, sessions, restarts, accessibility (part of test)
	@sh test/harness/prerequisites browser
	@$(specs)

.PHONY: console-pictures
console-pictures: programs ## make the pictures of docs/console.md again
	@sh test/harness/prerequisites browser
	@node test/console/make-pictures.ts

.PHONY: e2e-ovn
e2e-ovn: SPEC = {test/ovn,services/ovn-projector,services/node-agent/data-path,services/node-agent/underlay}/**/*.e2e.spec.ts
e2e-ovn: cni programs node-packages ovn-packages ## NICs that OVN connects, on two nodes with kubelet: traffic, ownership, faults, OVN4NFV (root; part of test; CHAOS=1: 20 kills of each program, 1,000 ADDs)
	@$(specs)

.PHONY: chaos
chaos: SPEC = test/{faults,scale,queries}/*.e2e.spec.ts
chaos: cni programs ## the fault and scale tests for hours: longer outages, more Pods, more rounds (ROUNDS=n, FAULT_SEED=n, SPEC=glob)
	@CHAOS=1 JOBS=1 $(specs)

.PHONY: domain-histories
domain-histories: SPEC = ledger/domain/state/network-histories.unit.spec.ts
domain-histories: node_modules ## random histories of a million commands: generations of names, late requests, MACs, reservations, restarts, clocks, Subnets that change (HISTORY_COMMANDS=n)
	@HISTORY_COMMANDS=$${HISTORY_COMMANDS:-1000000} $(specs)

.PHONY: histories
histories: SPEC = test/histories/histories.e2e.spec.ts
histories: cni programs ## histories of three allocators on three members of etcd under faults, checked by Porcupine and a fold of the log (root; a short one is part of test; RUNS=n, HISTORY_SECONDS=n, FAULT_SEED=n)
	@HISTORY_RUNS=$${RUNS:-1} HISTORY_SECONDS=$${HISTORY_SECONDS:-60} JOBS=1 $(specs)

.PHONY: sim
sim: node_modules ## the deterministic simulation: allocators, pod-watchers and agents over models, in virtual time, under faults (SEEDS=n, FROM=n, JOBS=n; SEED=n [ONLY=ids]: one seed, shortened; part of test)
	@node test/simulation/main.ts

.PHONY: soak
soak: cni programs ## days of a cluster's life in fast-forward, under faults: memory, descriptors and etcd stay flat, nothing is left (root; not part of test; HOURS=48 or MINUTES=n, NODES=n, FOLDER=path)
	@$(own_cluster) node test/soak/main.ts

.PHONY: soak-nodes
soak-nodes: cni programs node-packages ## hours in real time on two nodes with kubelet and containerd, under faults (root; not part of test; MINUTES=180, FOLDER=path)
	@$(own_cluster) node test/soak/nodes.ts

.PHONY: attack
attack: SPEC = test/attack/*.e2e.spec.ts
attack: cni programs ## one client of each kind at its limits, against an allocator with the chart's memory limit (root; part of test; CHAOS=1: for longer)
	@JOBS=2 $(specs)

.PHONY: chart
chart: programs ## render deploy/single and deploy/ha from deploy/chart
	@$(own_cluster) node test/chart/render.ts

.PHONY: chart-check
chart-check: SPEC = test/chart/*.spec.ts
chart-check: programs ## the Helm chart: lint, values, manifests on a real API server, permissions (part of test)
	@$(specs)

# e2e-chart needs programs and images that no other target needs, and about ten minutes: it is not part of test.
.PHONY: e2e-chart
e2e-chart: images ## install, upgrade, roll back and remove the chart on nodes with real Pods, under load (root; not part of test; MULTUS=path: a real Multus)
	@sh test/harness/prerequisites chart
	@node test/harness/prepare.ts e2e-chart
	@SPEC='test/chart/installation/*.check.spec.ts' JOBS=1 $(specs)

.PHONY: mutants
mutants: node_modules programs ## plant known mistakes one by one, and see that the specs of their tier find them (BUG=text: only these, JOBS=n: so many at a time, BY=sim: by the simulation)
	@node test/mutants/main.ts

.PHONY: mutation
mutation: node_modules programs ## mutate a sample of the rules, the log and the controllers; the specs must kill 90 % (SAMPLE=n, SEED=n, FROM=n, FOLDER=path, JOBS=n)
	@node test/mutation/main.ts

.PHONY: fuzz
fuzz: node_modules ## mutated inputs for each place where bytes enter a program, Go plugin included (TIME=seconds or INPUTS=n, TARGET=text, SEED=n)
	@node test/fuzz/main.ts
	@# Go counts here: at the end of a time it sometimes fails with "context deadline exceeded"
	@cd cni && for name in FuzzConfiguration FuzzAgentResponse FuzzResponseHead FuzzProbeAnswer; do \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $$(($${TIME:-60} * 2000))x . || exit 1; done

.PHONY: bench
bench: cni programs browser-packages ## speed and memory of each path, beside its floor or peer (ROW=a,b, ROUNDS=n, LONG=1, CHECK=1: fail far below a goal)
	@node test/bench/main.ts

.PHONY: profile
profile: export PROFILE_FOLDER = $(CURDIR)/.cache/profile
profile: cni programs browser-packages ## a row of the bench with CPU profiles and flame graphs of all programs, in .cache/profile (ROW=a)
	@rm -rf $(PROFILE_FOLDER)
	@node test/bench/main.ts

.PHONY: bench-ovn
bench-ovn: programs ovn-packages ## how long OVN takes to follow 1,000 allocations, beside raw transactions of the same rows (PODS=n, ROUNDS=n)
	@$(own_cluster) node test/bench/ovn.ts

.PHONY: sizing
sizing: cni programs ## memory of each program with 100, 1,000 and 10,000 Pods, and of an agent with 110 Pods (PODS=n,n,n)
	@$(own_cluster) node test/bench/sizing.ts

# ---- images and packages -------------------------------------------------------------------------------------------

ARCHITECTURES ?= amd64 arm64

.PHONY: images
images: build-packages node_modules $(ARCHITECTURES:%=.cache/dist/%/kube-ovn) ## the container images, as OCI archives in dist/ (ARCHITECTURES=amd64, IMAGE_PREFIX=registry/folder, SOURCE_DATE_EPOCH)
	@ARCHITECTURES='$(ARCHITECTURES)' node build/images/images.ts

.PHONY: push-images
push-images: ## push the images to REGISTRY=registry/folder, with all their architectures; stdout has the values of the chart
	@$(MAKE) --no-print-directory images >&2
	@node test/harness/prepare.ts crane >&2
	@PATH="$(CURDIR)/.cache/bin:$$PATH" node build/images/push-images.ts

.PHONY: images-check
images-check: images programs ## build the images again and compare; size, user, SBOM, ELF headers, and each program on a read-only root (root)
	@sh test/harness/prerequisites emulation
	@SPEC='test/images/*.spec.ts' $(specs)

.PHONY: pack
pack: build-packages node_modules ## the command line as npm package, archive with Node and krew manifest, in dist/ (RELEASE_URL=folder of the archive)
	@node build/packages/packages.ts

.PHONY: pack-check
pack-check: pack programs ## build the packages again and compare; install each into an empty folder and run it
	@SPEC='test/packages/*.spec.ts' $(specs)

# ---- prerequisites --------------------------------------------------------------------------------------------------

.PHONY: prerequisites
prerequisites: ## Debian packages: install them as root, or list the missing ones
	@sh test/harness/prerequisites

.PHONY: build-packages
build-packages:
	@sh test/harness/prerequisites build

# Tests without their packages are skipped, and log the reason.
optional_packages := node-packages monitoring-packages browser-packages ovn-packages
.PHONY: $(optional_packages)
$(optional_packages):
	@sh test/harness/prerequisites $(@:-packages=) || true

.PHONY: node_modules
node_modules: node_modules/.package-lock.json

node_modules/.package-lock.json: package-lock.json
	@command -v npm >/dev/null || sh test/harness/prerequisites
	npm ci --loglevel=error --no-update-notifier  # the packages include Node 24, so the warnings about npm's own Node do not matter
	@touch $@

.PHONY: programs
programs: prerequisites node_modules ## find the real servers and tools, or build them (the first time about 15 minutes)
	@node test/harness/prepare.ts

.PHONY: cni
cni: .cache/dist/kube-ovn ## the CNI plugin

plugin_sources := $(wildcard cni/*.go) cni/go.mod $(wildcard cni/go.sum)
build_plugin = cd cni && CGO_ENABLED=0 $(1) go build -trimpath -gcflags=all=-dwarf=false -ldflags '-s -w' -o ../$@ .

.cache/dist/kube-ovn: $(plugin_sources) | prerequisites
	@mkdir -p $(@D)
	$(call build_plugin)

.cache/dist/%/kube-ovn: $(plugin_sources) | prerequisites
	@mkdir -p $(@D)
	$(call build_plugin,GOARCH=$*)

.PHONY: clean
clean: ## stop what `up` started and remove what was built (PURGE=1: up's data, too)
	@if [ -d .cache/up ]; then $(MAKE) --no-print-directory down; fi
	rm -rf node_modules dist .cache/bin .cache/compiled .cache/dist .cache/demo .cache/images .cache/ovn

# ---- checks: format, lint, types, import directions, generated code ------------------------------------------------

folders := proto lib ledger services cli build deploy test local

.PHONY: check
check: prerequisites node_modules ## format, lint and import directions, types, generated code, words, the Go plugin
	prettier --check --log-level warn .
	oxlint --quiet $(folders)
	tsc --noEmit
	tsc --noEmit -p services/console/web
	node test/checks/event-registry.ts
	node test/checks/documented-names.ts
	node test/checks/import-layers.ts
	node test/docs/check-prose.ts
	node test/checks/comment-width.ts
	node test/checks/test-titles.ts
	node proto/generate.ts --check
	node deploy/monitoring/generate.ts --check
	@test -z "$$(gofmt -l cni test/tools)" || { gofmt -d cni test/tools; exit 1; }
	cd cni && go vet ./...

.PHONY: format
format: node_modules ## format all sources
	prettier --write --log-level warn .
	gofmt -w cni test/tools

.PHONY: lint
lint: node_modules ## lint and import directions alone; repairs what it can
	oxlint --fix $(folders)

.PHONY: generate
generate: node_modules ## generate code from proto/ipledger.proto, and alerts and dashboards from deploy/monitoring
	node proto/generate.ts
	node deploy/monitoring/generate.ts
