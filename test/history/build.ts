/**
 * A long history on a real etcd: Pods of Deployments and StatefulSets that come, are bound, move on and go, on many nodes and in two
 * subnets, each event decided and appended by the writer itself. The same count gives the same story, with other times and ids.
 */
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import type { Command } from '../../services/allocator/domain/command.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { Replica } from '../../services/allocator/ledger/replica.ts';
import { eventVersions } from '../../services/allocator/ledger/upcast.ts';
import { Writer } from '../../services/allocator/ledger/writer.ts';
import { type Act, story, subnets } from './story.ts';

/** Together they fill a transaction. */
const atOnce = 256;

export interface BuildOptions {
  readonly etcd: { readonly endpoint: string };
  /** The log is at least so long then, and hardly longer. */
  readonly events: number;
  readonly signal: AbortSignal;
  /** Told now and then how far it is. */
  readonly onProgress?: (seq: number) => void;
}

/** Writes it into an empty etcd; gives the number of the last event. */
export async function buildHistory({ etcd, events, signal, onProgress }: BuildOptions): Promise<number> {
  const client = connectEtcd([etcd.endpoint]);
  const ledger = new EtcdLedger(client);
  const replica = await Replica.load(ledger, signal);
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
    for (const { name, spec } of subnets)
      await submit('ipledger://watcher', (now) => ({ type: 'ApplySubnet', now, name, spec }));
    const lives = story();
    const worker = async (): Promise<void> => {
      while (replica.head.seq < events && !signal.aborted) {
        for (const act of lives.next().value) await submit(act.actor, act.command).catch(expected(act));
        onProgress?.(replica.head.seq);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return replica.head.seq;
  } finally {
    working.abort();
    await ended;
    client.close();
  }
}

/** A refusal is part of some stories. */
const expected =
  (act: Act) =>
  (error: unknown): void => {
    if (!act.mayBeRefused) throw error;
  };
