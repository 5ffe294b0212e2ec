/**
 * What an active watcher leaves in its Lease for the next one: from where to ask the API what happened while nobody watched,
 * and that it had doubts.
 */
import type { Position } from '../../proto/ipledger.ts';
import { type Raw, record, text } from '../../lib/raw.ts';

export interface Memory {
  /** Versions of the API up to which everything was seen and acted on; "" while unknown. */
  readonly pods: string;
  readonly nodes: string;
  /** How many vanished when releases were halted; 0 while they are not. */
  readonly vanishedPods: number;
  readonly vanishedNodes: number;
  /** Up to where the ledger was seen: an older one is not believed. */
  readonly ledger: Position | undefined;
}

export const noMemory: Memory = { pods: '', nodes: '', vanishedPods: 0, vanishedNodes: 0, ledger: undefined };

/** What a Lease says; what cannot be read is not remembered. */
export function readMemory(written: string): Memory {
  let parsed: unknown;
  try {
    parsed = JSON.parse(written);
  } catch {
    return noMemory;
  }
  const { pods, nodes, vanishedPods, vanishedNodes, ledger } = record(parsed);
  const count = (value: unknown): number => (Number.isSafeInteger(value) && (value as number) > 0 ? Number(value) : 0);
  return {
    pods: text(pods),
    nodes: text(nodes),
    vanishedPods: count(vanishedPods),
    vanishedNodes: count(vanishedNodes),
    ledger: positionOf(record(ledger)),
  };
}

function positionOf({ epoch, seq, hash }: Raw): Position | undefined {
  const whole = Number.isSafeInteger(epoch) && Number.isSafeInteger(seq) && typeof hash === 'string' && hash !== '';
  return whole ? { epoch: Number(epoch), seq: Number(seq), hash } : undefined;
}

/** What was seen is acted on within this time, as a rule. */
const usualSettleMs = 30_000;

/** Keeps versions back until what they stand for is done: who dies in between leaves nothing out. */
export class MemoryKeeper {
  readonly #settleMs: number;
  #settled: Pick<Memory, 'pods' | 'nodes'>;
  #waiting: { readonly seen: Pick<Memory, 'pods' | 'nodes'>; readonly at: number }[] = [];

  /** Goes on from what the last one left. */
  constructor({ pods, nodes }: Memory, settleMs = usualSettleMs) {
    this.#settled = { pods, nodes };
    this.#settleMs = settleMs;
  }

  /** Takes in what is seen and doubted now; gives what is to be left. Asked every few seconds. */
  write({ pods, nodes, ...doubts }: Memory): string {
    const now = performance.now();
    if (pods !== '' && nodes !== '') this.#waiting.push({ seen: { pods, nodes }, at: now });
    const due = this.#waiting.findLastIndex(({ at }) => now - at >= this.#settleMs);
    this.#settled = this.#waiting[due]?.seen ?? this.#settled;
    this.#waiting = this.#waiting.slice(due + 1);
    const settled = this.#settled.pods === '' ? this.#waiting[0]?.seen : this.#settled;
    return JSON.stringify({ ...settled, ...doubts });
  }
}
