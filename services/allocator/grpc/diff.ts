/** Ledger.Diff: what differs between the address maps of two moments. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import { inOrder, isSame } from '../domain/address-map.ts';
import { addressesOf } from '../domain/event.ts';
import { claimKey } from '../domain/journal.ts';
import { addressRecord, type AddressRecord, isHost } from '../domain/questions.ts';
import { claimOf, type State } from '../domain/state.ts';
import type { Head, StoredEvent } from '../ledger/chain.ts';
import type { Place, Until } from '../ledger/fold.ts';
import { poolSpecMessage, positionOf, recordMessage, timeOf } from './messages.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { inPages, instantOf } from './state-at.ts';
import { patiently, type TimeTravel } from './time-travel.ts';

const changesAReply = 250;

/**
 * Streams it; while the log is being read, replies are empty.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; OVERLOADED; what the ledger throws.
 */
export async function* diff(
  travel: TimeTravel,
  request: api.DiffRequest,
  { signal }: CallContext,
): AsyncGenerator<Input<api.DiffReply>> {
  const [from, to] = [travel.readMoment('from', request.from), travel.readMoment('to', request.to)];
  const { subnet } = request;
  yield* travel.run(async function* () {
    const folding = compared(travel, { from, to, subnet }, signal);
    yield* patiently(folding, () => ({}));
    const { moments, configuration, changes } = await folding;
    yield { ...moments, ...configuration };
    for await (const addresses of inPages(changes(), changesAReply)) yield { ...moments, addresses };
  });
}

interface Asked {
  readonly from: Until;
  readonly to: Until;
  readonly subnet: string;
}

interface Compared {
  readonly moments: Input<api.DiffReply>;
  readonly configuration: Input<api.DiffReply>;
  /** undefined for an address that was touched, and is as it was. */
  readonly changes: () => Iterable<Input<api.AddressChange> | undefined>;
}

/** One state is enough for both moments: on the way to the later one, each address is noted before it is first touched. */
async function compared(travel: TimeTravel, { from, to, subnet }: Asked, signal: AbortSignal): Promise<Compared> {
  const first = await travel.go(from, { signal });
  const then = instantOf(from, first.head.at);
  if (isBefore(to, { seq: first.head.seq, at: then }))
    throw new IpledgerError('INVALID_REQUEST', `to is before from, which is event ${first.head.seq}`);
  const untouched = specsOf(first.state, subnet);
  const noted = new Map<string, AddressRecord>();
  const before = (events: readonly StoredEvent[]): void => {
    for (const { sequenced } of events)
      if (subnet === '' || sequenced.subnet === subnet)
        for (const address of addressesOf(sequenced)) {
          const key = claimKey({ subnet: sequenced.subnet, address });
          if (!noted.has(key)) noted.set(key, recordOf(first.state, sequenced.subnet, address, then));
        }
  };
  const last = await travel.go(to, { signal, before }, first);
  return {
    moments: {
      from: positionOf(first.head),
      to: positionOf(last.head),
      fromAt: timeOf(first.head),
      toAt: timeOf(last.head),
    },
    configuration: configurationChanges(untouched, specsOf(last.state, subnet)),
    changes: () => addressChanges(noted, last, instantOf(to, last.head.at)),
  };
}

const isBefore = (to: Until, { seq, at }: Pick<Head, 'seq' | 'at'>): boolean =>
  typeof to === 'object' && ('seq' in to ? to.seq < seq : to.at < at);

/** Also of an address that has no claim, in a subnet that is not there (any more), or that it is no host address of. */
function recordOf(state: State, subnet: string, address: string, now: number): AddressRecord {
  if (claimOf(state, subnet, address) || isHost(state, subnet, address))
    return addressRecord(state, subnet, address, now);
  return { subnet, address, state: 'fresh', claim: undefined, availableAt: undefined, pool: '' };
}

function* addressChanges(
  noted: ReadonlyMap<string, AddressRecord>,
  { state }: Place,
  now: number,
): Generator<Input<api.AddressChange> | undefined> {
  const bySubnet = Map.groupBy(noted.values(), ({ subnet }) => subnet);
  for (const [subnet, records] of [...bySubnet].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    for (const address of inOrder(records.map((record) => record.address))) {
      const before = noted.get(claimKey({ subnet, address }));
      const isChanged = before && !isSame(before.claim, claimOf(state, subnet, address));
      yield isChanged
        ? { before: recordMessage(before), after: recordMessage(recordOf(state, subnet, address, now)) }
        : undefined;
    }
}

interface Specs {
  readonly subnets: ReadonlyMap<string, Input<api.SubnetSpec>>;
  readonly pools: ReadonlyMap<string, Input<api.PoolSpec>>;
}

/** What is in force, as it is at this moment: these never change, they are replaced. */
const specsOf = (state: State, wanted: string): Specs => ({
  subnets: new Map(
    [...state.subnets].flatMap(([name, { subnet }]) =>
      wanted === '' || wanted === name ? [[name, subnet.spec] as const] : [],
    ),
  ),
  pools: new Map(
    [...state.pools].flatMap(([name, { spec }]) =>
      wanted === '' || wanted === spec.subnet ? [[name, poolSpecMessage(spec)] as const] : [],
    ),
  ),
});

const configurationChanges = (before: Specs, after: Specs): Input<api.DiffReply> => ({
  subnets: changesOf(before.subnets, after.subnets),
  pools: changesOf(before.pools, after.pools),
});

function changesOf<Spec>(before: ReadonlyMap<string, Spec>, after: ReadonlyMap<string, Spec>) {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names
    .map((name) => ({ name, before: before.get(name), after: after.get(name) }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
