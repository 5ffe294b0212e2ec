/** The end state of a segment, as a file of the archive: the etcd keys beside the log at that event, one per line. */
import { restoreState } from '../domain/state/snapshot.ts';
import { lastSealedSeq, type State } from '../domain/state/state.ts';
import type { StateAtHead } from '../log/reader/fold.ts';
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

/** The value of a key is JSON, so each line is one JSON object. */
const line = (key: string, text: string): string => `{"key":${JSON.stringify(key)},"value":${text}}`;

/** The lines for a state. Their order depends only on the log. */
export function endStateLines({ state, head }: StateAtHead): string[] {
  return [
    line(headKey, headText(head)),
    ...state.segments.map((segment) => line(segmentKey(segment.from), segmentText(segment))),
    ...(state.segments.length > 0 ? [line(logStartKey, logStartText(lastSealedSeq(state) + 1))] : []),
    ...[...state.subnets].map(([name, subnet]) => line(subnetKey(name), configuredSubnetText(subnet))),
    ...[...state.pools].map(([name, pool]) => line(poolKey(name), poolText(pool))),
    ...claimLines(state),
    ...[...state.dropped].map(([subnet, seqs]) => line(droppedKey(subnet), droppedText(seqs))),
    ...[...state.ended.chunks()].map(({ index, pods }) => line(endedKey(index), endedText(pods))),
  ];
}

function claimLines({ claims }: State): string[] {
  return [...claims].flatMap(([subnet, each]) =>
    [...each].map(([address, claim]) => line(addressKey({ subnet, address }), claimText(claim))),
  );
}

/** The reverse of `endStateLines`. @throws IpledgerError LEDGER_DAMAGED, or SyntaxError */
export function parseEndState(lines: readonly string[]): StateAtHead {
  const pairs = lines.map((text) => {
    const { key } = JSON.parse(text) as { readonly key: string };
    return [key, text.slice(`{"key":${JSON.stringify(key)},"value":`.length, -1)] as const;
  });
  const valueOf = (name: string): string | undefined => pairs.find(([key]) => key === name)?.[1];
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
    ended: parseEnded(under(endedPrefix).map(([key, text]) => ({ key, text }))),
  };
  return { state: restoreState(snapshot), head };
}
