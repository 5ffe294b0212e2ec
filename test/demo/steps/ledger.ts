/** What the ledger says, and what Kubernetes shows of it. */
import { expect } from 'chai';
import type { Terminal } from '../terminal.ts';
import { linesOf, withoutColumns } from '../trim.ts';
import type { Addresses } from './pods.ts';

const log = 'etcdctl get --prefix /ipledger/v1/log/ --print-value-only';

export async function showObjects(terminal: Terminal, pods: Addresses): Promise<void> {
  terminal.step('Each address is an object in Kubernetes, with its Pod and its node, and the Subnet counts them.');
  await terminal.look({
    command: 'kubectl get ips',
    check: (output) => {
      const rows = linesOf(output).map((row) => row.split(/\s+/));
      const shown = rows.slice(1).map(([name, address, ...others]) => [name, address, ...others.slice(-2)]);
      const wanted = [...pods].map(([pod, address]) => [
        `${pod}.default.macvlan.default`,
        address,
        'node-1',
        'macvlan',
      ]);
      expect(shown).to.have.deep.members(wanted);
    },
  });
  await showStatus(terminal, {
    v4usingIPs: 4,
    v4usingIPrange: '172.17.0.11,172.17.0.100,172.17.0.200-172.17.0.201',
    v4availableIPs: 65_520,
  });
}

export async function showNothingLeft(terminal: Terminal): Promise<void> {
  terminal.step('Nothing has leaked: no IP object is left, and the Subnet is back at zero.');
  await terminal.look({
    command: 'kubectl get ips 2>&1',
    check: (output) => expect(output.trim()).to.equal('No resources found'),
  });
  await showStatus(terminal, { v4usingIPs: 0, v4usingIPrange: '', v4availableIPs: 65_524 });
}

function showStatus(terminal: Terminal, wanted: object): Promise<string> {
  return terminal.look({
    command: "kubectl get subnet macvlan -o json | jq -c '.status | {v4usingIPs, v4usingIPrange, v4availableIPs}'",
    check: (output) => expect(JSON.parse(output)).to.deep.equal(wanted),
  });
}

export async function showLog(terminal: Terminal, pods: Addresses, attached: boolean): Promise<void> {
  terminal.step(
    'All of that is a picture of the ledger: events in etcd, numbered without a gap, for anyone to read. Each names',
    'the one before it of the same address (0: none).',
  );
  await terminal.look({
    command: `${log} |\n  jq -c '[.seq, .at, .type, .before, .data.attachment.pod]'`,
    check: (output) => {
      const events = linesOf(output).map((line) => JSON.parse(line) as [number, string, string]);
      expect(events.map(([seq]) => seq)).to.deep.equal(events.map((_, index) => index + 1));
      expect(events.map(([, , type]) => type)).to.deep.equal([
        'LedgerCreated',
        'SubnetConfigured',
        ...[...pods].map(() => 'AddressAllocated'),
        ...(attached ? [...pods].map(() => 'AddressBound') : []),
      ]);
    },
  });
}

export async function showReleases(terminal: Terminal, pods: Addresses): Promise<void> {
  terminal.step('Then the addresses are free, and the ledger says why.');
  await terminal.look({
    command: `${log} |\n  jq -c 'select(.type == "AddressReleased") | [.seq, .at, .before, .data.attachment.pod, .data.cause]'`,
    check: (output) => {
      const releases = linesOf(output).map((line) => JSON.parse(line) as [number, string, object, string, string]);
      const shown = releases.map(([, , before, pod, cause]) => [pod, ...Object.keys(before), cause]);
      expect(shown).to.have.deep.members([...pods].map(([pod, address]) => [pod, address, 'pod-deleted']));
    },
    proves: 'four releases for four allocations',
  });
}

/** Gives the instant at which it was asked. */
export async function showHolder(terminal: Terminal, attached: boolean): Promise<string> {
  terminal.step('Who has this address, since when, and why? (The last column, SUBNET, is left out here.)');
  const events = [...(attached ? ['AddressBound'] : []), 'AddressAllocated'];
  await terminal.look({
    command: 'ipledger history 172.17.0.100',
    trim: withoutColumns('SUBNET'),
    check: (output) => {
      const rows = linesOf(output)
        .slice(1)
        .map((row) => row.split(/\s{2,}/));
      expect(rows.map(([, , event]) => event)).to.deep.equal(events);
      expect(new Set(rows.map(([, , , pod]) => pod))).to.deep.equal(new Set(['default/static-ip']));
    },
  });
  return new Date().toISOString();
}

/** @param at an instant at which the Pod had it. */
export async function showFormerHolder(terminal: Terminal, attached: boolean, at: string): Promise<void> {
  terminal.step('However much later somebody asks: who had it then, until when, and why no longer?');
  await terminal.look({
    command: `ipledger who-had 172.17.0.100 --at ${at}`,
    check: (output) => {
      const facts = new Map(linesOf(output).map((line) => line.trim().split(/\s{2,}/) as [string, string]));
      expect(facts.get('Pod')).to.match(/^default\/static-ip \(uid /);
      expect(facts.has('container')).to.equal(attached);
      expect(facts.get('why given')).to.equal('static: it asked for this very address');
      // pod-watcher may see the last deletion, or only that the Pod is gone.
      expect(facts.get('why lost')).to.match(/^pod-deleted(: its last deletion was at \S+, without a grace period)?$/);
    },
  });
}
