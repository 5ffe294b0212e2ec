/** Compares every key beside the log with the fold of the log. */
import type { Allocation, ClaimName } from '../../domain/state/claim.ts';
import type { Attachment } from '../../domain/values/allocation.ts';
import { networkOf } from '../../domain/state/network.ts';
import { otherClaims } from '../../domain/state/claims-on-network.ts';
import { claimOf, lastSealedSeq, type State } from '../../domain/state/state.ts';
import type { Head } from '../../log/chain/chain.ts';
import type { Candidate } from '../../log/writer/election.ts';
import {
  addressKey,
  addressPrefix,
  claimNameOf,
  droppedKey,
  droppedPrefix,
  endedKey,
  endedPrefix,
  prefixEnd,
  logStartKey,
  freezeKey,
  headKey,
  logPrefix,
  memberPrefix,
  poolKey,
  poolPrefix,
  keyPrefix,
  segmentKey,
  segmentPrefix,
  subnetKey,
  subnetPrefix,
  writerKey,
} from '../../log/store/keys.ts';
import { endedText } from '../../log/store/ended-keys.ts';
import {
  claimText,
  expectedClaimText,
  configuredSubnetText,
  droppedText,
  logStartText,
  headText,
  parseFreeze,
  poolText,
  readClaim,
  segmentText,
} from '../../log/store/stored-values.ts';
import type { KeyRange, StoredKey } from '../../log/store/ledger.ts';
import { differenceOf, type Finding } from './finding.ts';

export const rangesBesideLog: readonly KeyRange[] = [
  { from: keyPrefix, end: logPrefix },
  { from: prefixEnd(logPrefix), end: prefixEnd(keyPrefix) },
];

export class KeyVerifier {
  readonly #state: State;
  readonly #head: () => Head;
  /** The keys that exist, among those that were checked. */
  readonly #existing = new Set<string>();

  /** @param head returns the head of the state, which may advance between checks */
  constructor(state: State, head: () => Head) {
    this.#state = state;
    this.#head = head;
  }

  checkKey({ key, text }: StoredKey): Finding | undefined {
    this.#existing.add(key);
    return this.findingFor(key, text);
  }

  /** Returns the finding for a key with this value; undefined stands for a missing key. */
  findingFor(key: string, text: string | undefined): Finding | undefined {
    // Writer, members and freeze do not follow from the log. But a writer or freeze that is
    // unreadable blocks all replicas.
    if (key.startsWith(memberPrefix)) return undefined;
    if (key === writerKey) return text === undefined || isWriter(text) ? undefined : { key, what: invalidWriter };
    if (key === freezeKey) return text === undefined || isFreeze(text) ? undefined : { key, what: invalidFreeze };
    const expected = this.#expected(key, text);
    if (text === undefined) return expected === undefined ? undefined : this.#finding(key, 'it is missing');
    if (expected === undefined) return { key, what: unexpectedKey(key) + this.#secondHolder(key, text) };
    const difference = differenceOf(text, expected);
    return difference === undefined ? undefined : this.#finding(key, difference + this.#secondHolder(key, text));
  }

  /**
   * Yields the missing keys, after all existing keys are checked. Yields undefined after each claim
   * that exists, so that the caller can let other work run.
   */
  *missing(): Generator<Finding | undefined> {
    const { claims, dropped, ended, subnets, pools, segments } = this.#state;
    if (!this.#existing.has(headKey)) yield this.#finding(headKey, 'it is missing');
    for (const [subnet, addresses] of claims)
      for (const { address } of addresses.outlines()) {
        const key = addressKey({ subnet, address });
        yield this.#existing.has(key) ? undefined : this.#missing(key, addresses.get(address)?.last);
      }
    for (const [subnet, [last]] of dropped) yield* this.#missingKey(droppedKey(subnet), last);
    for (const { index } of ended.chunks()) yield* this.#missingKey(endedKey(index));
    for (const name of subnets.keys()) yield* this.#missingKey(subnetKey(name));
    for (const name of pools.keys()) yield* this.#missingKey(poolKey(name));
    for (const { from, seq } of segments) yield* this.#missingKey(segmentKey(from), seq);
    if (segments.length > 0) yield* this.#missingKey(logStartKey);
  }

  *#missingKey(key: string, last?: number): Generator<Finding> {
    if (!this.#existing.has(key)) yield this.#missing(key, last);
  }

  #missing(key: string, last: number | undefined): Finding {
    const what = last === undefined ? 'it is missing' : `it is missing: event ${last} was the last to change it`;
    return this.#finding(key, what);
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
    if (key.startsWith(endedPrefix)) {
      const index = Number(key.slice(endedPrefix.length));
      const pods = endedKey(index) === key ? this.#state.ended.chunk(index) : undefined;
      return pods && endedText(pods);
    }
    if (key === logStartKey && this.#state.segments.length > 0) return logStartText(lastSealedSeq(this.#state) + 1);
    if (key.startsWith(segmentPrefix)) {
      const segment = this.#state.segments.find(({ from }) => segmentKey(from) === key);
      return segment && segmentText(segment);
    }
    if (key.startsWith(subnetPrefix)) {
      const configured = this.#state.subnets.get(key.slice(subnetPrefix.length));
      return configured && configuredSubnetText(configured);
    }
    const pool = key.startsWith(poolPrefix) ? this.#state.pools.get(key.slice(poolPrefix.length)) : undefined;
    return pool && poolText(pool);
  }

  /**
   * Names both Pods, as the end of a sentence, if a wrong key gives a Pod an address that another
   * Pod holds.
   */
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
      return claim && (text === '' ? claimText(claim) : expectedClaimText(text, claim));
    } catch {
      return undefined; // the key is not an address key
    }
  }
}

/** Reads the holder from the value of an address key; undefined for none. */
function holderIn(key: string, text: string): (ClaimName & Pick<Allocation, 'attachment' | 'seq'>) | undefined {
  try {
    const { name, claim } = readClaim(key, text);
    return claim?.allocation && { ...name, attachment: claim.allocation.attachment, seq: claim.allocation.seq };
  } catch {
    return undefined; // the key is not an address key
  }
}

const invalidFreeze =
  'it is not a freeze reason. It stops all allocations and releases, and ipledger recover cannot remove it. Delete it manually';

const invalidWriter = 'it names no replica, and while it exists no replica is elected. Delete it manually';

function isWriter(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as Partial<Candidate> | null)?.replica === 'string';
  } catch {
    return false;
  }
}

function isFreeze(text: string): boolean {
  try {
    parseFreeze(text);
    return true;
  } catch {
    return false;
  }
}

const derivedKeys = [addressPrefix, droppedPrefix, endedPrefix, subnetPrefix, poolPrefix, segmentPrefix, logStartKey];

const unexpectedKey = (key: string): string =>
  derivedKeys.some((prefix) => key.startsWith(prefix))
    ? 'it does not follow from the log: another program wrote it'
    : 'ipledger has no such key: another program wrote it';
