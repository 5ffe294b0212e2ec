/** Mutants that change nothing that a spec could observe, each with the reason. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  /** Text of the line, which occurs once in the file. */
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

export const equivalentMutants: readonly Equivalent[] = [
  {
    file: 'services/pod-watcher/controllers/mass-deletion-guard.ts',
    line: 'this.#halted.set(scope, Math.max(',
    from: '0',
    to: '1',
    why: 'a scope is halted only while objects are missing, so the other operand is at least 1',
  },
  {
    file: 'ledger/domain/queries/list-bindings.ts',
    line: ': [...found].toSorted(([a], [b]) =>',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/network-definitions/broadcast-domain.ts',
    line: 'const vlanId = ',
    from: '0',
    to: '1',
    why: 'a VLAN id 0 that is refused becomes 0 by the default beside the limit',
  },
  {
    file: 'ledger/domain/compact/ordered-slots.ts',
    line: 'let [low, high] = [0, buckets.length];',
    from: '0',
    to: '1',
    why: 'the first bucket also takes lower numbers, so the search for another one may begin with the second',
  },
  {
    file: 'ledger/domain/queries/address-map.ts',
    line: 'for (let first = 0; first < addresses.length; first += runSize) {',
    from: '<',
    to: '<=',
    why: 'it adds at most one empty run, and a merge with an empty run changes nothing',
  },
  {
    file: 'services/pod-watcher/controllers/ipam-claims/ipam-claim-address-cache.ts',
    line: "removeFrom(this.#placesOf, this.#holders.get(place)?.pod ?? '', place);",
    from: "this.#holders.get(place)?.pod ?? ''",
    to: 'this.#holders.get(place)?.pod',
    why: 'no Pod has the key undefined, as none has an empty one: nothing is removed',
  },
  {
    file: 'ledger/domain/state/compact/fields.ts',
    line: 'this.#lastSingleText = isSingle ? only : undefined;',
    from: 'this.#lastSingleText = isSingle ? only : undefined;',
    to: ';',
    why: 'it saves the look-up of a list that is written again, which returns the same number',
  },
  {
    file: 'ledger/log/reader/reverse-scan.ts',
    line: "Date.parse(segments[number - 1]?.since ?? '') < at",
    from: "segments[number - 1]?.since ?? ''",
    to: 'segments[number - 1]?.since',
    why: 'the search asks for numbers of existing segments only; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'return addresses.map((address) => ({ end: event, address,',
    from: 'event.envelope.before[address] ?? 0',
    to: 'event.envelope.before[address]',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'return addresses.map((address) => ({ end: event, address,',
    from: '0',
    to: '1',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'return [{ end, address, at:',
    from: 'event.envelope.before[address] ?? 0',
    to: 'event.envelope.before[address]',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'return [{ end, address, at:',
    from: '0',
    to: '1',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'if (!event || (last && last.envelope.seq >= at)) return [];',
    from: '>=',
    to: '>',
    why: 'the addresses of a binding start with the same event, so another address finds the same one again',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'const grant = read.get(grants[index] ?? 0);',
    from: 'grants[index] ?? 0',
    to: 'grants[index]',
    why: 'there is one entry for each event; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    line: 'const grant = read.get(grants[index] ?? 0);',
    from: '0',
    to: '1',
    why: 'there is one entry for each event; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/replay.ts',
    line: 'const ended = this.#state.ended.changedSince(this.#endedBefore).length + maxEndedKeysPerCommand;',
    from: '+',
    to: '-',
    why: 'an estimate that is lower by six still includes each key, as each event of the command also counts as another key',
  },
  {
    file: 'ledger/log/reader/replay.ts',
    line: 'const configured = subnets.size',
    from: '2',
    to: '3',
    why: 'a transaction of one key less is within the limits, too',
  },
  {
    file: 'ledger/log/reader/reverse-scan.ts',
    line: 'const linesPerStep = 200;',
    from: '200',
    to: '201',
    why: 'it bounds the lines that are parsed at once, and the result is the same',
  },
  {
    file: 'services/pod-watcher/controllers/pods/pod-allocator.ts',
    line: 'allocations.markAllocated(key, uid, { allocated',
    from: 'position?.seq ?? 0',
    to: 'position?.seq',
    why: 'each reply of Allocate has a position; the default is for the compiler',
  },
  {
    file: 'services/pod-watcher/controllers/pods/pod-allocator.ts',
    line: 'allocations.markAllocated(key, uid, { allocated',
    from: '0',
    to: '1',
    why: 'each reply of Allocate has a position; the default is for the compiler',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    line: "const at = Date.parse(sandbox.binding?.at ?? '') || 0;",
    from: "sandbox.binding?.at ?? ''",
    to: 'sandbox.binding?.at',
    why: 'each binding has a time, and a text that is no time is the same as none',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    line: "const at = Date.parse(sandbox.binding?.at ?? '') || 0;",
    from: '0',
    to: '1',
    why: 'each binding has a time; the default of 1970 is earlier than each taint',
  },
  {
    file: 'ledger/domain/state/address-pools/address-space.ts',
    line: '.toSorted((a, b) => (a.first < b.first ? -1 : 1))',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/pods/missing-pods.ts',
    line: 'if (first !== undefined && worst) {',
    from: '&&',
    to: '||',
    why: 'each halted scope is counted, so that both are there or none',
  },
  {
    file: 'ledger/domain/state/compact/allocation-bytes.ts',
    line: 'this.#encoded.set(allocation, bytes);',
    from: 'this.#encoded.set(allocation, bytes);',
    to: ';',
    why: 'it saves the encoding of an allocation that is written again, whose bytes are the same',
  },
  {
    file: 'ledger/domain/state/indexes.ts',
    line: 'const rest = (state.homeSubnets.get(network) ?? []).filter((other) => other !== name);',
    from: 'state.homeSubnets.get(network) ?? []',
    to: 'state.homeSubnets.get(network)',
    why: 'a subnet in force is in the list of its network; the default is for the compiler',
  },
  {
    file: 'ledger/log/store/configuration-keys.ts',
    line: 'const maxSegmentBytes = 2 << 10;',
    from: '2',
    to: '3',
    why: 'a higher estimate of a key leaves the transaction within the limits, too',
  },
  {
    file: 'ledger/domain/events/change-claims.ts',
    line: '(before.length === 1 && before[0] === home)',
    from: '0',
    to: '1',
    why: 'the general case below returns the same list for an address that is used on the network of its subnet only',
  },
  {
    file: 'ledger/domain/state/address-pools/address-set.ts',
    line: 'const number of [...this.#few.keys()',
    from: '<',
    to: '<=',
    why: 'no two pages have the same number, so that the comparison never meets equal ones',
  },
  {
    file: 'ledger/log/store/etcd-lease.ts',
    line: 'ttlSeconds * 1000 - marginMs',
    from: '1000',
    to: '1001',
    why: 'a thousandth of the lease is less than the margin that is left before its end',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    line: 'if (remainingMs > 0) {',
    from: '>',
    to: '>=',
    why: 'at exactly 0 ms left the Node is queued again without a delay, and its bindings end then',
  },
  {
    file: 'ledger/log/store/configuration-keys.ts',
    line: 'droppedText(dropped.get(name) ?? [])',
    from: 'dropped.get(name) ?? []',
    to: 'dropped.get(name)',
    why: 'only a drop of claims changes this key, and it sets the list; the default is for the compiler',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    line: 'low = low * 32 + randomDigit();',
    from: '32',
    to: '33',
    why: 'it makes the first number of a millisecond, of which only the lowest digits are used, as random as before',
  },
  {
    file: 'ledger/log/reader/claim-revisions.ts',
    line: 'const pageSize = 1 << pageBits;',
    from: '1',
    to: '2',
    why: 'a page of twice the size takes more memory, and each address still has its own place in it',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    line: "let [time, prefix, low] = [-1, '', 0];",
    from: '0',
    to: '1',
    why: 'the first id begins a millisecond, which sets the number',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    line: 'if (used === pool.length)',
    from: '===',
    to: '!==',
    why: 'random bytes that are read for each digit are as random, and only take longer',
  },
  {
    file: 'services/pod-watcher/controllers/pods/planning/primary-network.ts',
    line: 'return { topics, network: ok({ subnets: [pools.subnetOf(bestPool)',
    from: "pools.subnetOf(bestPool) ?? ''",
    to: 'pools.subnetOf(bestPool)',
    why: 'the pool was found by its Subnet; the default is for the compiler',
  },
  {
    file: 'ledger/domain/addresses/interval.ts',
    line: '(a.first < b.first ? -1 : 1)',
    from: '<',
    to: '<=',
    why: 'intervals with the same first address are joined, in either order',
  },
  {
    file: 'ledger/domain/state/address-pools/address-pool.ts',
    line: 'claimOf(address)?.last ?? 0',
    from: '0',
    to: '1',
    why: 'each released address has a claim; the default is for the compiler',
  },
  {
    file: 'ledger/domain/state/claims-on-network.ts',
    line: 'subnets.size > 1',
    from: '>',
    to: '>=',
    why: 'it saves the search of networks with one Subnet, which has one claim for each address',
  },
  {
    file: 'ledger/domain/state/compact/fields.ts',
    line: 'const maxSharedLength = 256;',
    from: '256',
    to: '257',
    why: 'a text of 257 characters is shared or not; it is read the same',
  },
  {
    file: 'ledger/domain/state/claims.ts',
    line: 'this.set(address, claim);',
    from: 'this.set(address, claim);',
    to: ';',
    why: 'only a state whose claims are bytes is restored; the method is for the compiler',
  },
];

/** Returns why a mutant changes nothing; undefined for others. @param source of its file */
export function whyEquivalent({ file, line, from, to }: Mutant, source: string): string | undefined {
  const text = source.split('\n')[line - 1] ?? '';
  return equivalentMutants.find(
    (each) => each.file === file && text.includes(each.line) && each.from === from && each.to === to,
  )?.why;
}
