/** Every key that is not the log, held against the fold of the log. */
import type { Allocation } from '../domain/claim.ts';
import type { Attachment } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import { networkOf } from '../domain/network.ts';
import { otherClaims } from '../domain/on-network.ts';
import { claimOf, sealedTo, type State } from '../domain/state.ts';
import type { Head } from '../ledger/chain.ts';
import type { Candidate } from '../ledger/election.ts';
import {
  addressKey,
  addressPrefix,
  claimNameOf,
  claimText,
  claimTextAs,
  configuredText,
  droppedKey,
  droppedPrefix,
  droppedText,
  endOf,
  floorKey,
  floorText,
  frozenKey,
  headKey,
  headText,
  logPrefix,
  memberPrefix,
  parseFrozen,
  poolKey,
  poolPrefix,
  poolText,
  prefix,
  readClaim,
  segmentKey,
  segmentPrefix,
  segmentText,
  subnetKey,
  subnetPrefix,
  writerKey,
} from '../ledger/keys.ts';
import type { KeyRange, StoredKey } from '../ledger/ledger.ts';
import { differenceOf, type Finding } from './finding.ts';

/** Where they stand. */
export const besideLog: readonly KeyRange[] = [
  { from: prefix, end: logPrefix },
  { from: endOf(logPrefix), end: endOf(prefix) },
];

export class KeyAudit {
  readonly #state: State;
  readonly #head: () => Head;
  /** The keys that were there. */
  readonly #seen = new Set<string>();

  /** @param head that of the state, which may go on between looks. */
  constructor(state: State, head: () => Head) {
    this.#state = state;
    this.#head = head;
  }

  /** Looks at one key that is there. */
  look({ key, text }: StoredKey): Finding | undefined {
    this.#seen.add(key);
    return this.wrong(key, text);
  }

  /** What is wrong with a key that has this value, or (undefined) is not there. */
  wrong(key: string, text: string | undefined): Finding | undefined {
    // The log says nothing of writer, members and freeze; but a value there that no replica wrote is in everybody's way.
    if (key.startsWith(memberPrefix)) return undefined;
    if (key === writerKey) return text === undefined || isWriter(text) ? undefined : { key, what: noWriter };
    if (key === frozenKey) return text === undefined || isFreeze(text) ? undefined : { key, what: noFreeze };
    const expected = this.#expected(key, text);
    if (text === undefined) return expected === undefined ? undefined : this.#finding(key, 'it is missing');
    if (expected === undefined) return { key, what: strange(key) + this.#secondHolder(key, text) };
    const difference = differenceOf(text, expected);
    return difference === undefined ? undefined : this.#finding(key, difference + this.#secondHolder(key, text));
  }

  /** Looks, after all that are there, for those that are not. */
  *missing(): Generator<Finding> {
    const { claims, dropped, subnets, pools, segments } = this.#state;
    if (!this.#seen.has(headKey)) yield this.#finding(headKey, 'it is missing');
    for (const [subnet, addresses] of claims)
      for (const [address, { last }] of addresses) yield* this.#absent(addressKey({ subnet, address }), last);
    for (const [subnet, [last]] of dropped) yield* this.#absent(droppedKey(subnet), last);
    for (const name of subnets.keys()) yield* this.#absent(subnetKey(name));
    for (const name of pools.keys()) yield* this.#absent(poolKey(name));
    for (const { from, seq } of segments) yield* this.#absent(segmentKey(from), seq);
    if (segments.length > 0) yield* this.#absent(floorKey);
  }

  *#absent(key: string, last?: number): Generator<Finding> {
    if (this.#seen.has(key)) return;
    yield this.#finding(
      key,
      last === undefined ? 'it is missing' : `it is missing: event ${last} is the last to speak of it`,
    );
  }

  #finding(key: string, what: string): Finding {
    const expected = key === headKey ? undefined : this.#expected(key);
    return { key, what, ...(expected !== undefined && { expected }) };
  }

  #expected(key: string, text = ''): string | undefined {
    if (key === headKey) return headText(this.#head());
    if (key.startsWith(addressPrefix)) return this.#expectedClaim(key, text);
    if (key.startsWith(droppedPrefix)) {
      const seqs = this.#state.dropped.get(key.slice(droppedPrefix.length));
      return seqs && droppedText(seqs);
    }
    if (key === floorKey && this.#state.segments.length > 0) return floorText(sealedTo(this.#state) + 1);
    if (key.startsWith(segmentPrefix)) {
      const segment = this.#state.segments.find(({ from }) => segmentKey(from) === key);
      return segment && segmentText(segment);
    }
    if (key.startsWith(subnetPrefix)) {
      const configured = this.#state.subnets.get(key.slice(subnetPrefix.length));
      return configured && configuredText(configured);
    }
    const pool = key.startsWith(poolPrefix) ? this.#state.pools.get(key.slice(poolPrefix.length)) : undefined;
    return pool && poolText(pool);
  }

  /** Where a key that is not as the log says names a Pod for an address that another Pod holds: both, as the end of a sentence. */
  #secondHolder(key: string, text: string): string {
    if (!key.startsWith(addressPrefix)) return '';
    const found = holderIn(key, text);
    if (!found) return '';
    const { subnet, address, attachment } = found;
    const network = networkOf(attachment.provider, subnet);
    const claims = [
      { subnet, claim: claimOf(this.#state, subnet, address) },
      ...otherClaims(this.#state, network, address, subnet),
    ];
    const other = claims.find(({ claim }) => claim?.allocation && claim.allocation.seq !== found.seq);
    if (!other?.claim?.allocation) return '';
    const pod = ({ namespace, pod: name }: Attachment): string => `Pod ${namespace}/${name}`;
    return `: ${address} on network ${network} is held twice, by ${pod(attachment)} and, from subnet ${other.subnet}, by ${pod(other.claim.allocation.attachment)}`;
  }

  #expectedClaim(key: string, text: string): string | undefined {
    try {
      const { subnet, address } = claimNameOf(key);
      const claim = claimOf(this.#state, subnet, address);
      return claim && (text === '' ? claimText(claim) : claimTextAs(text, claim));
    } catch {
      return undefined; // no address is named so
    }
  }
}

/** The Pod that the value of an address key names as the holder; undefined for none. */
function holderIn(key: string, text: string): (ClaimName & Pick<Allocation, 'attachment' | 'seq'>) | undefined {
  try {
    const { name, claim } = readClaim(key, text);
    return claim?.allocation && { ...name, attachment: claim.allocation.attachment, seq: claim.allocation.seq };
  } catch {
    return undefined; // no address is named so
  }
}

const noFreeze =
  'it does not say what is remembered: nothing is given or taken while it is there, and ipledger recover cannot end it. Delete it by hand';

const noWriter = 'it names no replica: while it is there, no other is elected. Delete it by hand';

function isWriter(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as Partial<Candidate> | null)?.replica === 'string';
  } catch {
    return false;
  }
}

function isFreeze(text: string): boolean {
  try {
    parseFrozen(text);
    return true;
  } catch {
    return false;
  }
}

const ours = [addressPrefix, droppedPrefix, subnetPrefix, poolPrefix, segmentPrefix, floorKey];

const strange = (key: string): string =>
  ours.some((prefix) => key.startsWith(prefix))
    ? 'the log says nothing of it: something else than ipledger put it there'
    : 'ipledger has no such key: something else put it there';
