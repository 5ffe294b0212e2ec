/**
 * Handover state: the data that an active watcher stores in its Lease for the next one. It has the
 * versions from which to read past deletions, halted mass deletions, how long Pods have terminated,
 * the Nodes out of service, and the position in the ledger.
 */
import type { Position } from '../../proto/generated/ipledger.ts';
import type { TerminatingPods } from './controllers/pods/lifecycle-tracker.ts';
import { type UntypedJson, asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import { handoverLimits } from './limits.ts';

export interface HandoverState {
  /** Versions of the API server up to which all changes are processed; "" while unknown. */
  readonly pods: string;
  readonly nodes: string;
  /** The numbers of Pods and Nodes missing in a mass deletion that halts releases; or 0. */
  readonly vanishedPods: number;
  readonly vanishedNodes: number;
  /** The number of missing Pods in each namespace that is halted separately. */
  readonly haltedNamespaces: Readonly<Record<string, number>>;
  /** The id of the last acceptance of a mass deletion that is over; "" if there is none. */
  readonly usedAcceptance: string;
  /** The times for which watchers have seen Pods terminate: no other clock measures them. */
  readonly terminating: TerminatingPods;
  /** Nodes out of service, with the time of their last binding when the taint was seen. */
  readonly outOfService: Readonly<Record<string, number>>;
  /** The last position in the ledger. A ledger that lacks it was rewound. */
  readonly ledger: Position | undefined;
}

export const emptyHandoverState: HandoverState = {
  pods: '',
  nodes: '',
  vanishedPods: 0,
  vanishedNodes: 0,
  haltedNamespaces: {},
  usedAcceptance: '',
  terminating: {},
  outOfService: {},
  ledger: undefined,
};

/** Parses the state in a Lease. Unreadable parts are empty. */
export function parseHandoverState(text: string): HandoverState {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return emptyHandoverState;
  }
  const { pods, nodes, vanishedPods, vanishedNodes, haltedNamespaces, usedAcceptance, ...others } = asRecord(parsed);
  const { terminating, outOfService, ledger } = others;
  return {
    pods: asText(pods),
    nodes: asText(nodes),
    vanishedPods: count(vanishedPods),
    vanishedNodes: count(vanishedNodes),
    haltedNamespaces: entriesOf(haltedNamespaces, handoverLimits.namespaces, count),
    usedAcceptance: asText(usedAcceptance),
    terminating: entriesOf(terminating, handoverLimits.terminatingPods, (value) => {
      const [graceSeconds, seenForMs] = Array.isArray(value) ? value.map(count) : [];
      return graceSeconds === undefined || seenForMs === undefined ? undefined : [graceSeconds, seenForMs];
    }),
    outOfService: entriesOf(outOfService, handoverLimits.nodes, count),
    ledger: positionOf(asRecord(ledger)),
  };
}

const count = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? Number(value) : 0);

/** Returns the first entries of a record, without those whose values are unreadable. */
function entriesOf<T>(record: unknown, most: number, parse: (value: unknown) => T | undefined): Record<string, T> {
  const entries = Object.entries(asRecord(record)).slice(0, most);
  return Object.fromEntries(
    entries.flatMap(([key, value]) => {
      const parsed = parse(value);
      return parsed === undefined ? [] : [[key, parsed] as const];
    }),
  );
}

function positionOf({ epoch, seq, hash }: UntypedJson): Position | undefined {
  const isComplete =
    Number.isSafeInteger(epoch) && Number.isSafeInteger(seq) && typeof hash === 'string' && hash !== '';
  return isComplete ? { epoch: Number(epoch), seq: Number(seq), hash } : undefined;
}

/** The time within which changes are usually processed. */
const defaultSettleMs = 30_000;

/** Delays a kind's version until its changes are processed, so that a crash loses none. */
class SettlingVersion {
  readonly #settleMs: number;
  #settled: string;
  #pending: { readonly version: string; readonly at: number }[] = [];

  constructor(settled: string, settleMs: number) {
    this.#settled = settled;
    this.#settleMs = settleMs;
  }

  /** Records the current version. Returns the settled version, or else the first one. */
  next(version: string): string {
    const now = performance.now();
    if (version !== '') this.#pending.push({ version, at: now });
    const due = this.#pending.findLastIndex(({ at }) => now - at >= this.#settleMs);
    this.#settled = this.#pending[due]?.version ?? this.#settled;
    this.#pending = this.#pending.slice(due + 1);
    return this.#settled === '' ? (this.#pending[0]?.version ?? '') : this.#settled;
  }
}

/** Writes the handover state with settled versions. */
export class HandoverStateWriter {
  readonly #pods: SettlingVersion;
  readonly #nodes: SettlingVersion;

  /** Starts with the versions of the previous watcher. */
  constructor({ pods, nodes }: HandoverState, settleMs = defaultSettleMs) {
    this.#pods = new SettlingVersion(pods, settleMs);
    this.#nodes = new SettlingVersion(nodes, settleMs);
  }

  /** Records the current state. Returns the state to store, as JSON. Called every few seconds. */
  write({ pods, nodes, ...others }: HandoverState): string {
    return JSON.stringify({ pods: this.#pods.next(pods), nodes: this.#nodes.next(nodes), ...others });
  }
}
