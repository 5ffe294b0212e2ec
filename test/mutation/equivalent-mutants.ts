/** Mutants that change nothing that a spec could observe, each with the reason. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  /** A text that occurs once in the file, with the mutant inside: a line may have other ones. */
  readonly text: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

export const equivalentMutants: readonly Equivalent[] = [
  {
    file: 'services/pod-watcher/controllers/mass-deletion-guard.ts',
    text: 'this.#halted.get(scope) ?? 0',
    from: '0',
    to: '1',
    why: 'a scope is halted only while objects are missing, so the other operand is at least 1',
  },
  {
    file: 'ledger/domain/queries/list-bindings.ts',
    text: '(a < b ? -1 : 1)',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/network-definitions/broadcast-domain.ts',
    text: '.min(0).max(4094)',
    from: '0',
    to: '1',
    why: 'a VLAN id 0 that is refused becomes 0 by the default beside the limit',
  },
  {
    file: 'ledger/domain/compact/ordered-slots.ts',
    text: 'let [low, high] = [0, buckets.length];',
    from: '0',
    to: '1',
    why: 'the first bucket also takes lower numbers, so the search for another one may begin with the second',
  },
  {
    file: 'ledger/domain/queries/address-map.ts',
    text: 'for (let first = 0; first < addresses.length; first += runSize) {',
    from: '<',
    to: '<=',
    why: 'it adds at most one empty run, and a merge with an empty run changes nothing',
  },
  {
    file: 'services/pod-watcher/controllers/ipam-claims/ipam-claim-address-cache.ts',
    text: "removeFrom(this.#placesOf, this.#holders.get(place)?.pod ?? '', place);",
    from: "this.#holders.get(place)?.pod ?? ''",
    to: 'this.#holders.get(place)?.pod',
    why: 'no Pod has the key undefined, as none has an empty one: nothing is removed',
  },
  {
    file: 'ledger/domain/state/compact/fields.ts',
    text: 'this.#lastSingleText = isSingle ? only : undefined;',
    from: 'this.#lastSingleText = isSingle ? only : undefined;',
    to: ';',
    why: 'it saves the look-up of a list that is written again, which returns the same number',
  },
  {
    file: 'ledger/log/reader/reverse-scan.ts',
    text: "Date.parse(segments[number - 1]?.since ?? '') < at",
    from: "segments[number - 1]?.since ?? ''",
    to: 'segments[number - 1]?.since',
    why: 'the search asks for numbers of existing segments only; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: '({ end: event, address, at: event.envelope.before[address] ?? 0 })',
    from: 'event.envelope.before[address] ?? 0',
    to: 'event.envelope.before[address]',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: '({ end: event, address, at: event.envelope.before[address] ?? 0 })',
    from: '0',
    to: '1',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: '[{ end, address, at: event.envelope.before[address] ?? 0 }]',
    from: 'event.envelope.before[address] ?? 0',
    to: 'event.envelope.before[address]',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: '[{ end, address, at: event.envelope.before[address] ?? 0 }]',
    from: '0',
    to: '1',
    why: 'each event names the last one of each of its addresses; the default is for the compiler, and event 1 binds nothing',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: 'if (!event || (last && last.envelope.seq >= at)) return [];',
    from: '>=',
    to: '>',
    why: 'the addresses of a binding start with the same event, so another address finds the same one again',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: 'const grant = read.get(grants[index] ?? 0);',
    from: 'grants[index] ?? 0',
    to: 'grants[index]',
    why: 'there is one entry for each event; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/event-context.ts',
    text: 'const grant = read.get(grants[index] ?? 0);',
    from: '0',
    to: '1',
    why: 'there is one entry for each event; the default is for the compiler',
  },
  {
    file: 'ledger/log/reader/replay.ts',
    text: 'const ended = this.#state.ended.changedSince(this.#endedBefore).length + maxEndedKeysPerCommand;',
    from: '+',
    to: '-',
    why: 'an estimate that is lower by six still includes each key, as each event of the command also counts as another key',
  },
  {
    file: 'ledger/log/reader/replay.ts',
    text: 'this.#otherKeys.length + command.length + 2',
    from: '2',
    to: '3',
    why: 'a transaction of one key less is within the limits, too',
  },
  {
    file: 'ledger/log/reader/reverse-scan.ts',
    text: 'const linesPerStep = 200;',
    from: '200',
    to: '201',
    why: 'it bounds the lines that are parsed at once, and the result is the same',
  },
  {
    file: 'services/pod-watcher/controllers/pods/pod-allocator.ts',
    text: 'seq: position?.seq ?? 0 }',
    from: 'position?.seq ?? 0',
    to: 'position?.seq',
    why: 'each reply of Allocate has a position; the default is for the compiler',
  },
  {
    file: 'services/pod-watcher/controllers/pods/pod-allocator.ts',
    text: 'seq: position?.seq ?? 0 }',
    from: '0',
    to: '1',
    why: 'each reply of Allocate has a position; the default is for the compiler',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    text: "const at = Date.parse(sandbox.binding?.at ?? '') || 0;",
    from: "sandbox.binding?.at ?? ''",
    to: 'sandbox.binding?.at',
    why: 'each binding has a time, and a text that is no time is the same as none',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    text: "const at = Date.parse(sandbox.binding?.at ?? '') || 0;",
    from: '0',
    to: '1',
    why: 'each binding has a time; the default of 1970 is earlier than each taint',
  },
  {
    file: 'ledger/domain/state/address-pools/address-space.ts',
    text: '.toSorted((a, b) => (a.first < b.first ? -1 : 1))',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/pods/missing-pods.ts',
    text: 'if (first !== undefined && worst) {',
    from: '&&',
    to: '||',
    why: 'each halted scope is counted, so that both are there or none',
  },
  {
    file: 'ledger/domain/state/compact/allocation-bytes.ts',
    text: 'this.#encoded.set(allocation, bytes);',
    from: 'this.#encoded.set(allocation, bytes);',
    to: ';',
    why: 'it saves the encoding of an allocation that is written again, whose bytes are the same',
  },
  {
    file: 'ledger/domain/state/indexes.ts',
    text: 'const rest = (state.homeSubnets.get(network) ?? []).filter((other) => other !== name);',
    from: 'state.homeSubnets.get(network) ?? []',
    to: 'state.homeSubnets.get(network)',
    why: 'a subnet in force is in the list of its network; the default is for the compiler',
  },
  {
    file: 'ledger/log/store/configuration-keys.ts',
    text: 'const maxSegmentBytes = 2 << 10;',
    from: '2',
    to: '3',
    why: 'a higher estimate of a key leaves the transaction within the limits, too',
  },
  {
    file: 'ledger/domain/events/change-claims.ts',
    text: '(before.length === 1 && before[0] === home)',
    from: '0',
    to: '1',
    why: 'the general case below returns the same list for an address that is used on the network of its subnet only',
  },
  {
    file: 'ledger/domain/state/address-pools/address-set.ts',
    text: '(a < b ? -1 : 1)',
    from: '<',
    to: '<=',
    why: 'no two pages have the same number, so that the comparison never meets equal ones',
  },
  {
    file: 'ledger/log/store/etcd-lease.ts',
    text: 'ttlSeconds * 1000 - marginMs',
    from: '1000',
    to: '1001',
    why: 'a thousandth of the lease is less than the margin that is left before its end',
  },
  {
    file: 'services/pod-watcher/controllers/nodes/node-controller.ts',
    text: 'if (remainingMs > 0) {',
    from: '>',
    to: '>=',
    why: 'at exactly 0 ms left the Node is queued again without a delay, and its bindings end then',
  },
  {
    file: 'ledger/log/store/configuration-keys.ts',
    text: 'droppedText(dropped.get(name) ?? [])',
    from: 'dropped.get(name) ?? []',
    to: 'dropped.get(name)',
    why: 'only a drop of claims changes this key, and it sets the list; the default is for the compiler',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    text: 'low = low * 32 + randomDigit();',
    from: '32',
    to: '33',
    why: 'it makes the first number of a millisecond, of which only the lowest digits are used, as random as before',
  },
  {
    file: 'ledger/log/reader/claim-revisions.ts',
    text: 'const pageSize = 1 << pageBits;',
    from: '1',
    to: '2',
    why: 'a page of twice the size takes more memory, and each address still has its own place in it',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    text: "let [time, prefix, low] = [-1, '', 0];",
    from: '0',
    to: '1',
    why: 'the first id begins a millisecond, which sets the number',
  },
  {
    file: 'ledger/log/chain/ulid-source.ts',
    text: 'if (used === pool.length)',
    from: '===',
    to: '!==',
    why: 'random bytes that are read for each digit are as random, and only take longer',
  },
  {
    file: 'services/pod-watcher/controllers/pods/planning/primary-network.ts',
    text: "pools.subnetOf(bestPool) ?? ''",
    from: "pools.subnetOf(bestPool) ?? ''",
    to: 'pools.subnetOf(bestPool)',
    why: 'the pool was found by its Subnet; the default is for the compiler',
  },
  {
    file: 'ledger/domain/addresses/interval.ts',
    text: '(a.first < b.first ? -1 : 1)',
    from: '<',
    to: '<=',
    why: 'intervals with the same first address are joined, in either order',
  },
  {
    file: 'ledger/domain/state/claims-on-network.ts',
    text: 'subnets.size > 1',
    from: '>',
    to: '>=',
    why: 'it saves the search of networks with one Subnet, which has one claim for each address',
  },
  {
    file: 'ledger/domain/state/compact/fields.ts',
    text: 'const maxSharedLength = 256;',
    from: '256',
    to: '257',
    why: 'a text of 257 characters is shared or not; it is read the same',
  },
  {
    file: 'ledger/domain/state/claims.ts',
    text: 'this.set(address, claim);',
    from: 'this.set(address, claim);',
    to: ';',
    why: 'only a state whose claims are bytes is restored; the method is for the compiler',
  },
  {
    file: 'services/pod-watcher/controllers/network-definitions/shared-broadcast-domains.ts',
    text: 'holes.sort((a, b) => (a.first < b.first ? -1 : 1));',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/network-definitions/shared-broadcast-domains.ts',
    text: 'holes.sort((a, b) => (a.first < b.first ? -1 : 1));',
    from: '<',
    to: '<=',
    why: 'holes with the same first address can be subtracted in any order',
  },
  {
    file: 'ledger/log/store/cluster-health.ts',
    text: '(ms <= fastMs ? 0 : ms)',
    from: '0',
    to: '1',
    why: 'the fast members have the same rank, and a slow one is compared by its time',
  },
  {
    file: 'ledger/log/writer/membership.ts',
    text: 'return this.#refreshCount < initial.refreshes ?',
    from: '<',
    to: '<=',
    why: 'the fifth refresh is early, too, which only costs one read',
  },
  {
    file: 'services/pod-watcher/controllers/pods/wait-queue/wait-queues.ts',
    text: "quotaQueue(subnet, attachment?.namespace ?? ''),",
    from: "attachment?.namespace ?? ''",
    to: 'attachment?.namespace',
    why: 'each allocation of a reply has its attachment; the default is for the compiler',
  },
  {
    file: 'ledger/domain/state/address-pools/address-pool.ts',
    text: 'return compareReuse({ address, last }, moved) > 0;',
    from: '>',
    to: '>=',
    why: 'two addresses of a pool never have the same place in the order',
  },
];

/** Returns why a mutant changes nothing; undefined for others. @param source of its file */
export function whyEquivalent({ file, start, end, from, to }: Mutant, source: string): string | undefined {
  return equivalentMutants.find((each) => {
    if (each.file !== file || each.from !== from || each.to !== to) return false;
    const at = source.indexOf(each.text);
    return at >= 0 && start >= at && end <= at + each.text.length;
  })?.why;
}
