/** What the services work on: this replica, and the writer while we are the writer. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Event } from '../domain/event.ts';
import type { Command } from '../domain/command.ts';
import type { State } from '../domain/state.ts';
import type { Proven } from '../ledger/ask.ts';
import type { Replica } from '../ledger/replica.ts';
import type { Writer } from '../ledger/writer.ts';
import type { CallContext } from './server.ts';

export interface Allocator {
  readonly replica: Replica;
  /** undefined while another replica is the writer, or nobody is yet. */
  readonly writer: () => Writer | undefined;
  /** Who is the writer, as far as known: for the message to those who ask the wrong one. */
  readonly writerAddress: () => Promise<string | undefined>;
}

/**
 * Has a command decided, and gives the answer once it is proven.
 * @throws IpledgerError the refusal, or why it could not be decided.
 */
export async function command<Answer>(
  allocator: Allocator,
  { actor, signal }: CallContext,
  build: (now: number) => Command,
  answer: (state: State, events: readonly Event[]) => Answer,
): Promise<Proven<Answer>> {
  const writer = await writerOf(allocator);
  return writer.submit({ command: build, answer, actor, signal });
}

/**
 * Reads, as of one instant between request and reply.
 * @throws IpledgerError what `read` refuses, or why it could not be read.
 */
export async function question<Answer>(
  allocator: Allocator,
  { actor, signal }: CallContext,
  read: (state: State, now: number) => Answer,
): Promise<Proven<Answer>> {
  const writer = await writerOf(allocator);
  return writer.submit({ answer: (state, _events, now) => read(state, now), actor, signal });
}

async function writerOf({ writer, writerAddress }: Allocator): Promise<Writer> {
  const here = writer();
  if (here) return here;
  const elsewhere = await writerAddress().catch((error: unknown) => {
    throw new IpledgerError(
      'UNAVAILABLE',
      `who the writer is cannot be told: etcd could not be read: ${String(error)}`,
    );
  });
  throw new IpledgerError(
    'NOT_WRITER',
    elsewhere
      ? `this allocator stands by; the writer is at ${elsewhere}`
      : 'no allocator is the writer at this moment: try again',
  );
}
