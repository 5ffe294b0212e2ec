/** Steps on the ledger: its objects in Kubernetes, its log, and the history of an address. */
import { expect } from 'chai';
import type { Terminal } from '../terminal.ts';
import { splitLines, withoutColumns } from '../output-filter.ts';
import type { PodAddresses } from './pods.ts';

const log = 'etcdctl get --prefix /ipledger/v1/log/ --print-value-only';

export async function showObjects(terminal: Terminal, pods: PodAddresses): Promise<void> {
  terminal.step('Each address is an object in Kubernetes, with its Pod and its node, and the Subnet counts them.');
  await terminal.runUntilPassed({
    command: 'kubectl get ips',
    check: (output) => {
      const rows = splitLines(output).map((row) => row.split(/\s+/));
      const actual = rows.slice(1).map(([name, address, ...others]) => [name, address, ...others.slice(-2)]);
      const expected = [...pods].map(([pod, address]) => [
        `${pod}.default.macvlan.default`,
        address,
        'node-1',
        'macvlan',
      ]);
      expect(actual).to.have.deep.members(expected);
    },
  });
  await showStatus(terminal, {
    v4usingIPs: 4,
    v4usingIPrange: '172.17.0.11,172.17.0.100,172.17.0.200-172.17.0.201',
    v4availableIPs: 65_520,
  });
}

export async function showObjectsDeleted(terminal: Terminal): Promise<void> {
  terminal.step('No address leaks: all IP objects are deleted, and the Subnet counts 0 addresses in use.');
  await terminal.runUntilPassed({
    command: 'kubectl get ips 2>&1',
    check: (output) => expect(output.trim()).to.equal('No resources found'),
  });
  await showStatus(terminal, { v4usingIPs: 0, v4usingIPrange: '', v4availableIPs: 65_524 });
}

function showStatus(terminal: Terminal, expected: object): Promise<string> {
  return terminal.runUntilPassed({
    command: "kubectl get subnet macvlan -o json | jq -c '.status | {v4usingIPs, v4usingIPrange, v4availableIPs}'",
    check: (output) => expect(JSON.parse(output)).to.deep.equal(expected),
  });
}

export async function showLog(terminal: Terminal, pods: PodAddresses, attached: boolean): Promise<void> {
  terminal.step(
    'These objects are copies of the ledger: events in etcd, numbered without a gap. Each event has the number of the',
    'earlier event of its address (0: none).',
  );
  await terminal.runUntilPassed({
    command: `${log} |\n  jq -c '[.seq, .at, .type, .before, .data.attachment.pod]'`,
    check: (output) => {
      const events = splitLines(output).map((line) => JSON.parse(line) as [number, string, string]);
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

export async function showReleases(terminal: Terminal, pods: PodAddresses): Promise<void> {
  terminal.step('The addresses are free. The ledger has the cause of each release.');
  await terminal.runUntilPassed({
    command: `${log} |\n  jq -c 'select(.type == "AddressReleased") | [.seq, .at, .before, .data.attachment.pod, .data.cause]'`,
    check: (output) => {
      const releases = splitLines(output).map((line) => JSON.parse(line) as [number, string, object, string, string]);
      const actual = releases.map(([, , before, pod, cause]) => [pod, ...Object.keys(before), cause]);
      expect(actual).to.have.deep.members([...pods].map(([pod, address]) => [pod, address, 'pod-deleted']));
    },
    proves: 'four allocations, four releases',
  });
}

/** Shows the holder of the address. Returns the time of the query. */
export async function showHolder(terminal: Terminal, attached: boolean): Promise<string> {
  terminal.step('Which Pod has this address, since when, and why? (The demo hides the last column, SUBNET.)');
  const events = [...(attached ? ['AddressBound'] : []), 'AddressAllocated'];
  await terminal.runUntilPassed({
    command: 'ipledger history 172.17.0.100',
    trim: withoutColumns('SUBNET'),
    check: (output) => {
      const rows = splitLines(output)
        .slice(1)
        .map((row) => row.split(/\s{2,}/));
      expect(rows.map(([, , event]) => event)).to.deep.equal(events);
      expect(new Set(rows.map(([, , , pod]) => pod))).to.deep.equal(new Set(['default/static-ip']));
    },
  });
  return new Date().toISOString();
}

/** @param at a time at which the Pod had the address */
export async function showFormerHolder(terminal: Terminal, attached: boolean, at: string): Promise<void> {
  terminal.step('Later: which Pod had the address at that time, until when, and why was it released?');
  await terminal.runUntilPassed({
    command: `ipledger who-had 172.17.0.100 --at ${at}`,
    check: (output) => {
      const fields = new Map(splitLines(output).map((line) => line.trim().split(/\s{2,}/) as [string, string]));
      expect(fields.get('Pod')).to.match(/^default\/static-ip \(uid /);
      expect(fields.has('container')).to.equal(attached);
      expect(fields.get('allocated because')).to.equal('static: the Pod requested this address');
      // The pod-watcher receives the deletion, or finds out later that the Pod does not exist
      expect(fields.get('released because')).to.match(
        /^pod-deleted(: its last deletion was at \S+, without a grace period)?$/,
      );
    },
  });
}
