/** Ledger.StateAt: the address map at a point in time. */
import { TurnBudget } from '../../../../lib/process/turn-budget.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { addressMap } from '../../../../ledger/domain/queries/address-map.ts';
import { usageOf, usageOfPool } from '../../../../ledger/domain/queries/queries.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import type { FoldEnd } from '../../../../ledger/log/reader/fold.ts';
import { poolMessage, positionMessage, addressRecordMessage, subnetMessage, headTime } from '../messages.ts';
import { maxPageBytes, estimateBytes } from '../../../../lib/net/page-size.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { Task } from '../../threads/task.ts';
import { encodedReplies, foldTo, type PointInTimeReader } from './point-in-time.ts';

const recordsPerReply = 500;
/** Two queries can run at the same time, so other work waits for both in each turn. */
const msPerTurn = 3;

interface StateAtQuery {
  readonly until: FoldEnd;
  readonly subnet: string;
}

/** Computes the pages, encoded. */
export const stateAtTask: Task<StateAtQuery, Uint8Array> = {
  name: 'state-at',
  async run(tools, { until, subnet }, send, signal) {
    const { state, head } = await foldTo(tools, until, { signal });
    const position = { position: positionMessage(head), at: headTime(head) };
    const sendPage = (page: MessageInput<api.StateAtReply>): Promise<void> =>
      send(LedgerService.stateAt.responseSerialize({ ...position, ...page }));
    await sendPage(configurationOf(state, subnet));
    const now = evaluationInstant(until, head.at);
    for await (const records of paginate(addressMap(state, subnet, now), recordsPerReply))
      await sendPage({ records: records.map(addressRecordMessage) });
  },
};

/**
 * Streams the pages. Replies are empty while the log is being read.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; OVERLOADED; what the ledger throws.
 */
export function streamStateAt(
  pointInTime: PointInTimeReader,
  { pointInTime: point, subnet }: api.StateAtRequest,
  context: CallContext,
): AsyncIterable<Buffer> {
  const until = pointInTime.readPointInTime('point_in_time', point);
  return encodedReplies(pointInTime.run(stateAtTask, { until, subnet }, context));
}

/** The time at which states such as `cooldown` are computed. */
export const evaluationInstant = (until: FoldEnd, headAt: number): number =>
  typeof until === 'object' && 'at' in until ? until.at : headAt;

function configurationOf(state: State, selected: string): Pick<MessageInput<api.StateAtReply>, 'subnets' | 'pools'> {
  const subnets = byName(state.subnets).filter(([name]) => selected === '' || selected === name);
  const pools = byName(state.pools).filter(([, { spec }]) => selected === '' || selected === spec.subnet);
  return {
    subnets: subnets.map(([, configured]) => subnetMessage(configured, usageOf(configured))),
    pools: pools.map(([, pool]) => poolMessage(pool, usageOfPool(state, pool))),
  };
}

const byName = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Splits items into pages by count and bytes, and skips undefined items. A turn of the event loop
 * ends after 3 ms.
 */
export async function* paginate<Item>(items: Iterable<Item | undefined>, size: number): AsyncGenerator<Item[]> {
  const turn = new TurnBudget(msPerTurn);
  let page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (turn.isSpent) await turn.nextTurn();
    if (item === undefined) continue;
    const itemBytes = estimateBytes(item);
    if (page.length === size || (page.length > 0 && bytes + itemBytes > maxPageBytes)) {
      yield page;
      [page, bytes] = [[], 0];
    }
    page.push(item);
    bytes += itemBytes;
  }
  if (page.length > 0) yield page;
}
