/** Ledger.Diff: the differences between the address maps at two points in time. */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { claimsAgree, inNumericOrder } from '../../../../ledger/domain/queries/address-map.ts';
import { addressesOf } from '../../../../ledger/domain/events/registry.ts';
import { claimKey } from '../../../../ledger/domain/state/claim.ts';
import { addressRecord, type AddressRecord, isHost } from '../../../../ledger/domain/queries/queries.ts';
import { claimOf, type State } from '../../../../ledger/domain/state/state.ts';
import type { Head, StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import { fold, type StateAtHead, type FoldEnd } from '../../../../ledger/log/reader/fold.ts';
import { poolSpecMessage, positionMessage, addressRecordMessage, headTime } from '../messages.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { paginate, evaluationInstant } from './state-at.ts';
import type { Task, TaskTools } from '../../threads/task.ts';
import { encodedReplies, foldTo, type PointInTimeReader } from './point-in-time.ts';

const changesPerReply = 250;

interface DiffQuery {
  readonly from: FoldEnd;
  readonly to: FoldEnd;
  readonly subnet: string;
}

/** Computes the pages, encoded. */
export const diffTask: Task<DiffQuery, Uint8Array> = {
  name: 'diff',
  async run(tools, query, send, signal) {
    const { positions, configuration, changes } = await findDifferences(tools, query, signal);
    const sendPage = (page: MessageInput<api.DiffReply>): Promise<void> =>
      send(LedgerService.diff.responseSerialize({ ...positions, ...page }));
    await sendPage(configuration);
    for await (const addresses of paginate(changes(), changesPerReply)) await sendPage({ addresses });
  },
};

/**
 * Streams the pages. Replies are empty while the log is being read.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; OVERLOADED; what the ledger throws.
 */
export function streamDiff(
  pointInTime: PointInTimeReader,
  request: api.DiffRequest,
  context: CallContext,
): AsyncIterable<Buffer> {
  const [from, to] = [pointInTime.readPointInTime('from', request.from), pointInTime.readPointInTime('to', request.to)];
  return encodedReplies(pointInTime.run(diffTask, { from, to, subnet: request.subnet }, context));
}

interface Differences {
  readonly positions: MessageInput<api.DiffReply>;
  readonly configuration: MessageInput<api.DiffReply>;
  /**
   * Yields undefined for an address whose events cancel each other out, and at the end of a step,
   * like `addressMap`.
   */
  readonly changes: () => Iterable<MessageInput<api.AddressChange> | undefined>;
}

/** Needs only one state: the fold records each address before its first change. */
async function findDifferences(
  tools: TaskTools,
  { from, to, subnet }: DiffQuery,
  signal: AbortSignal,
): Promise<Differences> {
  const first = await foldTo(tools, from, { signal });
  const then = evaluationInstant(from, first.head.at);
  if (isBefore(to, { seq: first.head.seq, at: then }))
    throw new IpledgerError('INVALID_REQUEST', `"to" is before "from" (event ${first.head.seq}): exchange the two`);
  const specsBefore = specsOf(first.state, subnet);
  const recordsBefore = new Map<string, AddressRecord>();
  const recordChanged = (events: readonly StoredEvent[]): void => {
    for (const { sequenced } of events)
      if (subnet === '' || sequenced.subnet === subnet)
        for (const address of addressesOf(sequenced)) {
          const key = claimKey({ subnet: sequenced.subnet, address });
          if (!recordsBefore.has(key)) recordsBefore.set(key, recordOf(first.state, sequenced.subnet, address, then));
        }
  };
  const last = await fold(tools.ledger, first, to, { signal, onCommand: recordChanged });
  return {
    positions: {
      from: positionMessage(first.head),
      to: positionMessage(last.head),
      fromAt: headTime(first.head),
      toAt: headTime(last.head),
    },
    configuration: configurationChanges(specsBefore, specsOf(last.state, subnet)),
    changes: () => addressChanges(recordsBefore, last, evaluationInstant(to, last.head.at)),
  };
}

const isBefore = (to: FoldEnd, { seq, at }: Pick<Head, 'seq' | 'at'>): boolean =>
  typeof to === 'object' && ('seq' in to ? to.seq < seq : to.at < at);

/** The record of an address, even without a claim, in an unknown Subnet, or outside its Subnet. */
function recordOf(state: State, subnet: string, address: string, now: number): AddressRecord {
  if (claimOf(state, subnet, address) || isHost(state, subnet, address))
    return addressRecord(state, subnet, address, now);
  return { subnet, address, state: 'fresh', claim: undefined, availableAt: undefined, pool: '' };
}

function* addressChanges(
  recordsBefore: ReadonlyMap<string, AddressRecord>,
  { state }: StateAtHead,
  now: number,
): Generator<MessageInput<api.AddressChange> | undefined> {
  const bySubnet = new Map<string, string[]>();
  for (const { subnet, address } of recordsBefore.values()) {
    const known = bySubnet.get(subnet);
    if (known) known.push(address);
    else bySubnet.set(subnet, [address]);
    yield undefined;
  }
  for (const [subnet, addresses] of [...bySubnet].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    for (const address of inNumericOrder(addresses)) {
      if (address === undefined) {
        yield undefined;
        continue;
      }
      const before = recordsBefore.get(claimKey({ subnet, address }));
      const isChanged = before && !claimsAgree(before.claim, claimOf(state, subnet, address));
      yield isChanged
        ? { before: addressRecordMessage(before), after: addressRecordMessage(recordOf(state, subnet, address, now)) }
        : undefined;
    }
}

interface Specs {
  readonly subnets: ReadonlyMap<string, MessageInput<api.SubnetSpec>>;
  readonly pools: ReadonlyMap<string, MessageInput<api.PoolSpec>>;
}

/** The current specs. A change replaces them, so they need not be copied. */
const specsOf = (state: State, selected: string): Specs => ({
  subnets: new Map(
    [...state.subnets].flatMap(([name, { subnet }]) =>
      selected === '' || selected === name ? [[name, subnet.spec] as const] : [],
    ),
  ),
  pools: new Map(
    [...state.pools].flatMap(([name, { spec }]) =>
      selected === '' || selected === spec.subnet ? [[name, poolSpecMessage(spec)] as const] : [],
    ),
  ),
});

const configurationChanges = (before: Specs, after: Specs): MessageInput<api.DiffReply> => ({
  subnets: changesOf(before.subnets, after.subnets),
  pools: changesOf(before.pools, after.pools),
});

function changesOf<Spec>(before: ReadonlyMap<string, Spec>, after: ReadonlyMap<string, Spec>) {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names
    .map((name) => ({ name, before: before.get(name), after: after.get(name) }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
