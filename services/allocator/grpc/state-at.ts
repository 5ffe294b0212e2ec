/** Ledger.StateAt: the address map as it was at a moment. */
import { setImmediate } from 'node:timers/promises';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import { addressMap } from '../domain/address-map.ts';
import { usageOf, usageOfPool } from '../domain/questions.ts';
import type { State } from '../domain/state.ts';
import type { Until } from '../ledger/fold.ts';
import { poolMessage, positionOf, recordMessage, subnetMessage, timeOf } from './messages.ts';
import { mostPageBytes, weightOf } from '../../../lib/serving/page-bytes.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { patiently, type TimeTravel } from './time-travel.ts';

const recordsAReply = 500;

/**
 * Streams it; while the log is being read, replies are empty.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; OVERLOADED; what the ledger throws.
 */
export async function* stateAt(
  travel: TimeTravel,
  request: api.StateAtRequest,
  { signal }: CallContext,
): AsyncGenerator<Input<api.StateAtReply>> {
  const until = travel.readMoment('moment', request.moment);
  const { subnet } = request;
  yield* travel.run(async function* () {
    const folding = travel.go(until, { signal });
    yield* patiently(folding, () => ({}));
    const { state, head } = await folding;
    const place = { position: positionOf(head), at: timeOf(head) };
    yield { ...place, ...configurationOf(state, subnet) };
    const now = instantOf(until, head.at);
    for await (const records of inPages(addressMap(state, subnet, now), recordsAReply))
      yield { ...place, records: records.map(recordMessage) };
  });
}

/** At which instant addresses are looked at: whether one still cools down depends on it. */
export const instantOf = (until: Until, headAt: number): number =>
  typeof until === 'object' && 'at' in until ? until.at : headAt;

function configurationOf(state: State, wanted: string): Pick<Input<api.StateAtReply>, 'subnets' | 'pools'> {
  const subnets = byName(state.subnets).filter(([name]) => wanted === '' || wanted === name);
  const pools = byName(state.pools).filter(([, { spec }]) => wanted === '' || wanted === spec.subnet);
  return {
    subnets: subnets.map(([, configured]) => subnetMessage(configured, usageOf(configured))),
    pools: pools.map(([, pool]) => poolMessage(pool, usageOfPool(state, pool))),
  };
}

const byName = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Items in lists of a size, or of what fills a page, without those that are undefined; the last may be shorter. After so many items that were looked at, the
 * rest of the process has a turn.
 */
export async function* inPages<Item>(items: Iterable<Item | undefined>, size: number): AsyncGenerator<Item[]> {
  let page: Item[] = [];
  let [looked, bytes] = [0, 0];
  for (const item of items) {
    if (++looked % size === 0) await setImmediate();
    if (item === undefined) continue;
    const weight = weightOf(item);
    if (page.length === size || (page.length > 0 && bytes + weight > mostPageBytes)) {
      yield page;
      [page, bytes] = [[], 0];
    }
    page.push(item);
    bytes += weight;
  }
  if (page.length > 0) yield page;
}
