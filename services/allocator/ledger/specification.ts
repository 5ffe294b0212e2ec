/** What the specs of the ledger are written with: commands on their way to a writer, batches, the log folded again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { Command } from '../domain/command.ts';
import { describeState } from '../domain/describe.ts';
import type { Event } from '../domain/event.ts';
import { Journal } from '../domain/journal.ts';
import { allocationsOfPod } from '../domain/questions.ts';
import type { Untimed } from '../domain/specification.ts';
import { evolve } from '../domain/evolve.ts';
import { initialState, type State } from '../domain/state.ts';
import type { Ask } from './ask.ts';
import { chain, type Head, parseEvent, type StoredEvent } from './chain.ts';
import type { Batch, Ledger } from './ledger.ts';
import { MemoryLedger } from './memory.ts';
import { Replica } from './replica.ts';
import { UnreliableLedger } from './unreliable.ts';
import { type EventVersion, eventVersions } from './upcast.ts';
import { Writer, type WriterOptions } from './writer.ts';

export const never = new AbortController().signal;
export const silent = pino({ level: 'silent' });
export const newId = monotonicFactory();

/** The documents' subnet: 172.17.0.11 is the first address that is given. */
export const macvlan: Untimed = applySubnet('macvlan', {
  cidrBlock: '172.17.0.0/16',
  gateway: '172.17.0.1',
  excludeIps: ['172.17.0.0..172.17.0.10'],
});

/** Three addresses, .2 to .4, which rest for no time. */
export const small: Untimed = applySubnet('small', {
  cidrBlock: '10.0.0.0/29',
  gateway: '10.0.0.1',
  excludeIps: ['10.0.0.5..10.0.0.6'],
  cooldownMs: 0,
});

type ApplySubnet = Extract<Command, { type: 'ApplySubnet' }>;

/** A subnet of provider "<name>.default". */
export function applySubnet(name: string, spec: Partial<ApplySubnet['spec']>): Untimed {
  const usual = { gateway: '', excludeIps: [], provider: `${name}.default`, protocol: '', cidrBlock: '' };
  return { type: 'ApplySubnet', name, spec: { ...usual, ...spec } };
}

/** What an attachment of the small subnet asks for. */
export const inSmall = { provider: 'small.default', subnets: ['small'] };

/** The pod `allocate(pod)` is about is deleted. */
export const release = (pod: string, uid = `uid-${pod}`): Untimed => {
  return { type: 'Release', namespace: 'default', pod, uid, cause: 'pod-deleted', evidence: '' };
};

/** Its container is set up. */
export function bind(pod: string, provider = 'macvlan.default', containerId = `container-of-${pod}`): Untimed {
  const sandbox = { namespace: 'default', pod, uid: `uid-${pod}`, provider, containerId, interface: 'net1' };
  return { type: 'Bind', ...sandbox, node: 'node-1', bootId: 'boot-1' };
}

/** Its container is taken down. */
export const unbind = (pod: string, containerId = `container-of-${pod}`): Untimed => {
  return { type: 'Unbind', containerId, interface: 'net1', cause: 'container-deleted' };
};

/** What is answered to the specs' asks. */
export interface Answer {
  /** How many events the command came to. */
  readonly events: number;
  /** What the Pod of an Allocate holds. */
  readonly addresses: readonly string[];
}

/** A command, on its way to a writer. */
export const ask = (untimed: Untimed, signal = never): Ask<Answer> => ({
  command: (now) => ({ ...untimed, now }),
  answer: (state, events) => ({ events: events.length, addresses: addressesOf(state, untimed) }),
  actor: 'anonymous',
  signal,
});

function addressesOf(state: State, untimed: Untimed): string[] {
  if (untimed.type !== 'Allocate') return [];
  const { namespace, name, uid } = untimed.pod;
  return allocationsOfPod(state, namespace, name, uid).flatMap(({ addresses }) =>
    addresses.map(({ address }) => address),
  );
}

/** A transaction of these events, each a command of its own, behind a head; with whatever else it shall hold. */
export function batchOf(before: Head, events: readonly Event[], more: Partial<Batch> = {}): Batch {
  const wrapping = {
    part: [1, 1],
    at: before.at + 1_000,
    clock: before.at + 1_000,
    actor: 'spec',
    before: {},
  } as const;
  let after = before;
  const lines = events.map((event) => {
    const { stored, head } = chain(after, event, { id: newId(), command: newId(), ...wrapping });
    after = head;
    return { seq: stored.envelope.seq, text: stored.text };
  });
  return {
    head: { before, after },
    events: lines,
    claims: [],
    dropped: [],
    subnets: [],
    pools: [],
    segments: [],
    notWhileFrozen: true,
    writer: undefined,
    ...more,
  };
}

/** A writer at work on a ledger that has begun, and how to stop it. */
export interface Working {
  readonly replica: Replica;
  readonly writer: Writer;
  /** Resolves to what `run` ended with. */
  stop(): Promise<unknown>;
}

/** Starts a writer of its own replica. Retries come at once. */
export async function startWriter(ledger: Ledger, more: Partial<WriterOptions> = {}): Promise<Working> {
  const replica = more.replica ?? (await Replica.load(ledger, never));
  const retry = { firstMs: 1, mostMs: 4 };
  const eventVersion = () => eventVersions.at(-1) as EventVersion;
  const writer = new Writer({ newId, term: undefined, eventVersion, log: silent, retry, ...more, replica });
  const stopping = new AbortController();
  const ended = writer.run(stopping.signal).catch((error: unknown) => error);
  const stop = (): Promise<unknown> => {
    stopping.abort();
    return ended;
  };
  return { replica, writer, stop };
}

/** A writer on a ledger behind a bad network that knows both subnets; the ledger itself beside it. */
export async function startUnreliable(more: Partial<WriterOptions> = {}) {
  const memory = new MemoryLedger();
  const ledger = new UnreliableLedger(memory);
  const working = await startWriter(ledger, more);
  await carryOut(working.writer, createLedger(), macvlan, small);
  return { memory, ledger, working };
}

/** Has a writer do this, one after the other. */
export async function carryOut(writer: Writer, ...commands: readonly Untimed[]): Promise<void> {
  for (const command of commands) await writer.submit(ask(command));
}

/** The first thing that any ledger is told. */
export const createLedger = (): Untimed => ({ type: 'CreateLedger', ledger: newId() });

/** The types of a log's events. */
export const typesOf = (events: readonly StoredEvent[]): string[] => events.map(({ envelope }) => envelope.type);

/** All lines of a log, parsed. */
export async function logOf(ledger: Ledger): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of ledger.read(1, never)) for (const { text } of page) events.push(parseEvent(text));
  return events;
}

/** The fold of a log from nothing, described. */
export function describeFold(events: readonly StoredEvent[]): object {
  const state = initialState();
  for (const { sequenced } of events) evolve(state, sequenced, new Journal());
  return describeState(state);
}

/** The error of a promise that must fail. */
export async function failureOf(promise: Promise<unknown>): Promise<IpledgerError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error as IpledgerError,
  );
  if (!outcome) throw new Error('it did not fail');
  return outcome;
}

/** Something that opens by hand. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Long enough for everything that needs no more than the memory ledger, retries included. */
export const afterAWhile = (): Promise<void> => sleep(20);
