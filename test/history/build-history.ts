/**
 * Builds a long history in a real etcd: Pods of Deployments and StatefulSets on many nodes and in
 * two subnets. The writer decides and appends each event. The same count gives the same events,
 * with other times and ids.
 */
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import type { Command } from '../../ledger/domain/commands/command.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { LedgerClock } from '../../ledger/log/chain/ledger-clock.ts';
import { Replica } from '../../ledger/log/reader/replica.ts';
import { eventVersions } from '../../ledger/domain/events/schema-version.ts';
import { Writer } from '../../ledger/log/writer/writer.ts';
import { defaultLivePods, type ScriptedCommand, podLifecycles, subnetsFor } from './pod-lifecycles.ts';

/** The number of concurrent commands, which together fill a transaction. */
const concurrency = 256;

export interface BuildOptions {
  readonly etcd: { readonly endpoint: string };
  /** The minimum length of the log, which becomes slightly longer. */
  readonly events: number;
  /** Pods that exist at a time. Default: 500. */
  readonly livePods?: number | undefined;
  /** The time that the history covers, up to now. Default: the time of building it. */
  readonly spanMs?: number;
  readonly signal: AbortSignal;
  /** Called after each Pod with the sequence number of the last event. */
  readonly onProgress?: (seq: number) => void;
}

/** Writes the history into an empty etcd. Returns the sequence number of the last event. */
export async function buildHistory(options: BuildOptions): Promise<number> {
  const { etcd, events, livePods = defaultLivePods, spanMs = 0, signal, onProgress } = options;
  const client = connectEtcd([etcd.endpoint]);
  const ledger = new EtcdLedger(client);
  let seq = 0;
  const now = (): number => Date.now() - spanMs * Math.max(0, 1 - seq / events);
  const replica = await Replica.load(ledger, signal, new LedgerClock({ wall: now, monotonic: now }));
  const log = pino({ level: 'silent' });
  const newest = eventVersions.at(-1) ?? 1;
  const writer = new Writer({ replica, newId: monotonicFactory(), term: undefined, eventVersion: () => newest, log });
  const working = new AbortController();
  const ended = writer.run(AbortSignal.any([signal, working.signal]));
  const submit = async (actor: string, command: (now: number) => Command): Promise<void> => {
    await writer.submit({ command, answer: () => undefined, actor, signal });
  };
  try {
    await submit('history', (now) => ({ type: 'CreateLedger', now, ledger: monotonicFactory()() }));
    for (const { name, spec } of subnetsFor(livePods))
      await submit('ipledger://watcher', (now) => ({ type: 'ApplySubnet', now, name, spec }));
    const lives = podLifecycles(livePods);
    const worker = async (): Promise<void> => {
      while (replica.head.seq < events && !signal.aborted) {
        for (const step of lives.next().value)
          await submit(step.actor, step.command).catch(ignoreExpectedRefusal(step));
        seq = replica.head.seq;
        onProgress?.(seq);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return replica.head.seq;
  } finally {
    working.abort();
    await ended;
    client.close();
  }
}

/** Ignores the refusals that are part of the history. */
const ignoreExpectedRefusal =
  (act: ScriptedCommand) =>
  (error: unknown): void => {
    if (!act.mayBeRefused) throw error;
  };
