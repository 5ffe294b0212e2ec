/**
 * The end state of a segment, as a file of the archive: one line for each etcd key beside the log
 * after that segment.
 */
import type { Segment } from '../domain/values/ledger.ts';
import type { ConfiguredPool } from '../domain/state/pool.ts';
import { type Configuration, type DroppedClaims, StateRestore } from '../domain/state/snapshot.ts';
import { lastSealedSeq } from '../domain/state/state.ts';
import type { Head } from '../log/chain/chain.ts';
import type { StateAtHead } from '../log/reader/fold.ts';
import type { StoredKey } from '../log/store/ledger.ts';
import {
  addressKey,
  addressPrefix,
  claimNameOf,
  droppedKey,
  droppedPrefix,
  endedKey,
  endedPrefix,
  logStartKey,
  headKey,
  poolKey,
  poolPrefix,
  segmentKey,
  segmentPrefix,
  subnetKey,
  subnetPrefix,
} from '../log/store/keys.ts';
import { endedText, parseEnded } from '../log/store/ended-keys.ts';
import {
  claimText,
  configuredSubnetText,
  droppedText,
  logStartText,
  headText,
  parseClaim,
  parseDropped,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  poolText,
  segmentText,
} from '../log/store/stored-values.ts';

/** Formats a line as one JSON object. The value of a key is already JSON. */
const line = (key: string, text: string): string => `{"key":${JSON.stringify(key)}${separator}${text}}`;
const separator = ',"value":';

/**
 * Splits a line into key and value. The value stays text: it is usually a claim, which is parsed
 * later, and once.
 */
export function splitLine(text: string): { readonly key: string; readonly value: string } {
  // Finds the end of the key: quotation marks inside the key are escaped.
  const end = text.indexOf(`"${separator}`) + 1;
  const key: unknown = JSON.parse(text.slice('{"key":'.length, end));
  if (typeof key !== 'string' || !text.endsWith('}')) throw new SyntaxError('a line has no key, or no value');
  return { key, value: text.slice(end + separator.length, -1) };
}

/**
 * Yields the lines for a state one by one, because there may be a million claims. Their order
 * depends only on the log.
 */
export function* endStateLines({ state, head }: StateAtHead): Generator<string> {
  yield line(headKey, headText(head));
  for (const segment of state.segments) yield line(segmentKey(segment.from), segmentText(segment));
  if (state.segments.length > 0) yield line(logStartKey, logStartText(lastSealedSeq(state) + 1));
  for (const [name, subnet] of state.subnets) yield line(subnetKey(name), configuredSubnetText(subnet));
  for (const [name, pool] of state.pools) yield line(poolKey(name), poolText(pool));
  for (const [subnet, claims] of state.claims)
    for (const [address, claim] of claims) yield line(addressKey({ subnet, address }), claimText(claim));
  for (const [subnet, seqs] of state.dropped) yield line(droppedKey(subnet), droppedText(seqs));
  for (const { index, pods } of state.ended.chunks()) yield line(endedKey(index), endedText(pods));
}

/**
 * Parses the lines of `endStateLines`. The lines of Subnets come before those of claims, so that
 * claims can be restored one by one.
 * @param lines in parts that fit into a turn of the event loop
 * @throws IpledgerError LEDGER_DAMAGED, or SyntaxError
 */
export async function parseEndState(lines: AsyncIterable<readonly string[]>): Promise<StateAtHead> {
  const subnets: Configuration['subnets'][number][] = [];
  const segments: Segment[] = [];
  const pools: ConfiguredPool[] = [];
  const dropped: DroppedClaims[] = [];
  const ended: StoredKey[] = [];
  let head: Head | undefined;
  let restore: StateRestore | undefined;
  for await (const part of lines)
    for (const text of part) {
      const { key, value } = splitLine(text);
      if (key === headKey) head = parseHead(value);
      else if (key.startsWith(segmentPrefix)) segments.push(parseSegment(key, value));
      else if (key.startsWith(subnetPrefix)) subnets.push(parseSubnet(key, value));
      else if (key.startsWith(poolPrefix)) pools.push(parsePool(key, value));
      else if (key.startsWith(droppedPrefix)) dropped.push(parseDropped(key, value));
      else if (key.startsWith(endedPrefix)) ended.push({ key, text: value });
      else if (key.startsWith(addressPrefix)) {
        const name = claimNameOf(key);
        restore ??= new StateRestore(subnets);
        restore.add(name, parseClaim(name, value));
      }
    }
  head ??= parseHead('');
  restore ??= new StateRestore(subnets);
  const configuration = { ledger: head.ledger, segments, subnets, pools, dropped, ended: parseEnded(ended) };
  try {
    return { state: restore.end(configuration), head };
  } catch (error) {
    throw new SyntaxError('its keys do not belong to one state', { cause: error });
  }
}
