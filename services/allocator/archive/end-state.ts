/** The state at the end of a segment, as the archive keeps it: the keys that etcd held beside the log then, one to a line. */
import { restore } from '../domain/restore.ts';
import { sealedTo, type State } from '../domain/state.ts';
import type { Place } from '../ledger/fold.ts';
import {
  addressKey,
  addressPrefix,
  claimNameOf,
  claimText,
  configuredText,
  droppedKey,
  droppedPrefix,
  droppedText,
  floorKey,
  floorText,
  headKey,
  headText,
  parseClaim,
  parseDropped,
  parseHead,
  parsePool,
  parseSegment,
  parseSubnet,
  poolKey,
  poolPrefix,
  poolText,
  segmentKey,
  segmentPrefix,
  segmentText,
  subnetKey,
  subnetPrefix,
} from '../ledger/keys.ts';

/** `value` is the key's, so that a line reads as one piece of JSON. */
const line = (key: string, text: string): string => `{"key":${JSON.stringify(key)},"value":${text}}`;

/** Sorted by nothing in particular, but always the same for the same place. */
export function endStateLines({ state, head }: Place): string[] {
  return [
    line(headKey, headText(head)),
    ...state.segments.map((segment) => line(segmentKey(segment.from), segmentText(segment))),
    ...(state.segments.length > 0 ? [line(floorKey, floorText(sealedTo(state) + 1))] : []),
    ...[...state.subnets].map(([name, subnet]) => line(subnetKey(name), configuredText(subnet))),
    ...[...state.pools].map(([name, pool]) => line(poolKey(name), poolText(pool))),
    ...claimLines(state),
    ...[...state.dropped].map(([subnet, seqs]) => line(droppedKey(subnet), droppedText(seqs))),
  ];
}

function claimLines({ claims }: State): string[] {
  return [...claims].flatMap(([subnet, each]) =>
    [...each].map(([address, claim]) => line(addressKey({ subnet, address }), claimText(claim))),
  );
}

/** @throws IpledgerError LEDGER_DAMAGED, or SyntaxError, for lines that are no state. */
export function parseEndState(lines: readonly string[]): Place {
  const pairs = lines.map((text) => {
    const { key } = JSON.parse(text) as { readonly key: string };
    return [key, text.slice(`{"key":${JSON.stringify(key)},"value":`.length, -1)] as const;
  });
  const valueOf = (wanted: string): string | undefined => pairs.find(([key]) => key === wanted)?.[1];
  const under = (prefix: string) => pairs.filter(([key]) => key.startsWith(prefix));
  const head = parseHead(valueOf(headKey) ?? '');
  const snapshot = {
    ledger: head.ledger,
    segments: under(segmentPrefix).map(([key, text]) => parseSegment(key, text)),
    subnets: under(subnetPrefix).map(([key, text]) => parseSubnet(key, text)),
    pools: under(poolPrefix).map(([key, text]) => parsePool(key, text)),
    claims: under(addressPrefix).map(([key, text]) => {
      const name = claimNameOf(key);
      return { ...name, claim: parseClaim(name, text) };
    }),
    dropped: under(droppedPrefix).map(([key, text]) => parseDropped(key, text)),
  };
  return { state: restore(snapshot), head };
}
