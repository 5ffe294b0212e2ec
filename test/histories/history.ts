/**
 * The record of a history: each call with its invocation and its return, and what the streams
 * delivered. Its lines are the input of test/tools/history-checker, which describes the fields.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../lib/errors.ts';
import { call, type Connection } from '../../lib/grpc/client.ts';
import { callOutcome } from '../../lib/grpc/calls.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import type { AddressRecord, Allocation, Position, WatchReply } from '../../proto/generated/ipledger.ts';

/** The kinds of calls in a history. */
export const inputKinds = [
  'allocate',
  'release',
  'bind',
  'attach',
  'unbind',
  'list',
  'getAddress',
  'reserve',
  'unreserve',
  'quarantine',
  'unquarantine',
  'apply',
  'retire',
  'getSubnet',
] as const;

/** The input of a call, as the checker reads it. */
export interface Input {
  readonly kind: (typeof inputKinds)[number];
  /** The id of the request, which each attempt has. */
  readonly request: string;
  readonly client: number;
  readonly subnet?: string;
  readonly address?: string;
  readonly pod?: string;
  readonly uid?: string;
  readonly container?: string;
  readonly node?: string;
  readonly owner?: string;
  readonly seenSeq?: number;
  readonly allocSeq?: number;
  readonly value?: string;
  readonly minSeq?: number;
  readonly local?: boolean;
  readonly allocations?: readonly RecordedAllocation[];
}

export interface RecordedAllocation {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly uid: string;
  readonly seq: number;
}

/** The part of an answer that is added to the input. */
export interface Answer {
  readonly allocations?: readonly RecordedAllocation[];
  readonly count?: number;
  readonly record?: object;
  readonly value?: string;
  readonly address?: string;
}

export interface HistoryCall<Request, Reply> {
  readonly connection: Connection;
  readonly method: Method<Request, Reply, 'unary'>;
  readonly request: MessageInput<Request>;
  readonly input: Input;
  readonly answerOf?: (reply: Reply) => Answer;
  readonly timeoutMs: number;
}

const now = (): number => Math.round(performance.now() * 1_000);

export class History {
  readonly #lines: string[] = [];
  /** The kinds of the calls that were answered. */
  readonly answered = new Set<Input['kind']>();
  #operations = 0;

  get operations(): number {
    return this.#operations;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(line: object): void {
    this.#lines.push(JSON.stringify(line));
  }

  /**
   * Calls, and records the call.
   * @returns the reply; 'refused', or 'unknown' without an answer
   * @throws IpledgerError for a reply that reports a bug or damage
   */
  async call<Request, Reply extends { readonly position?: Position }>({
    connection,
    method,
    request,
    input,
    answerOf = () => ({}),
    timeoutMs,
  }: HistoryCall<Request, Reply>): Promise<Reply | 'refused' | 'unknown'> {
    this.#operations++;
    const start = now();
    const record = (what: object): void => this.add({ operation: { ...input, start, end: now(), ...what } });
    try {
      const reply = await call(connection, method, request, { timeoutMs });
      this.answered.add(input.kind);
      record({ outcome: 'ok', position: reply.position, ...answerOf(reply) });
      return reply;
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind === 'bug' || error.kind === 'damaged') throw error;
      const isFinal = error.kind !== 'transient' || error.code === 'REQUEST_OUTDATED';
      const isRefused = callOutcome(error) === 'refused' && isFinal;
      record(isRefused ? { outcome: 'refused', code: error.code } : { outcome: 'unknown' });
      return isRefused ? 'refused' : 'unknown';
    }
  }

  /** Records the events of a reply of a Watch. */
  addDeliveries(watcher: string, subnet: string, { events }: WatchReply): void {
    for (const [index, { seq, stored }] of events.entries()) {
      const sha256 = createHash('sha256').update(stored).digest('hex');
      this.add({ delivery: { watcher, subnet, seq, sha256, ends: index === events.length - 1 } });
    }
  }
}

export const toRecordedAllocation = ({ subnet, addresses, podUid, seq }: Allocation): RecordedAllocation => ({
  subnet,
  addresses: addresses.map(({ address }) => address),
  uid: podUid,
  seq,
});

/** Converts the reply to a read of an address to the form that the checker compares. */
export const toRecord = ({ allocation, bindings, reservation, quarantine }: AddressRecord): object => ({
  uid: allocation?.podUid ?? '',
  seq: allocation?.seq ?? 0,
  owner: reservation?.reservedFor ?? '',
  quarantined: quarantine !== undefined,
  bindings: bindings.map(({ containerId, node }) => `${containerId}@${node}`).toSorted(),
});
