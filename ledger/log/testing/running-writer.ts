/** Test support: commands for a writer, batches, a running writer, and the fold of its log. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { monotonicFactory } from 'ulid';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { Command } from '../../domain/commands/command.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import type { Event } from '../../domain/events/event.ts';
import { UndoLog } from '../../domain/state/undo-log.ts';
import { allocationsOfPod } from '../../domain/queries/queries.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { evolve } from '../../domain/events/registry.ts';
import { initialState, type State } from '../../domain/state/state.ts';
import type { PendingRequest } from '../pending-request.ts';
import { chainEvent, type Head, parseEvent, type StoredEvent } from '../chain/chain.ts';
import { type Batch, type Ledger, noChanges } from '../store/ledger.ts';
import { MemoryLedger } from './memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import { UnreliableLedger } from './unreliable-ledger.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';
import { Writer, type WriterOptions } from '../writer/writer.ts';

export const never = new AbortController().signal;
export const silentLog = pino({ level: 'silent' });
export const newId = monotonicFactory();

/** The Subnet of the documents. 172.17.0.11 is the first address that is allocated. */
export const macvlan: Untimed = applySubnet('macvlan', {
  cidrBlock: '172.17.0.0/16',
  gateway: '172.17.0.1',
  excludeIps: ['172.17.0.0..172.17.0.10'],
});

/** A Subnet with three addresses, .2 to .4, without cooldown. */
export const small: Untimed = applySubnet('small', {
  cidrBlock: '10.0.0.0/29',
  gateway: '10.0.0.1',
  excludeIps: ['10.0.0.5..10.0.0.6'],
  cooldownMs: 0,
});

type ApplySubnet = Extract<Command, { type: 'ApplySubnet' }>;

/** A Subnet of provider "<name>.default". */
export function applySubnet(name: string, spec: Partial<ApplySubnet['spec']>): Untimed {
  const defaults = { gateway: '', excludeIps: [], provider: `${name}.default`, protocol: '', cidrBlock: '' };
  return { type: 'ApplySubnet', name, spec: { ...defaults, ...spec } };
}

/** An attachment request for the small Subnet. */
export const smallAttachment = { provider: 'small.default', subnets: ['small'] };

/** Releases the Pod of `allocate(pod)`. */
export const release = (pod: string, uid = `uid-${pod}`): Untimed => {
  return { type: 'Release', namespace: 'default', pod, uid, cause: 'pod-deleted', evidence: '' };
};

/** Binds a container of the Pod of `allocate(pod)`. */
export function bind(
  pod: string,
  provider = 'macvlan.default',
  containerId = `container-of-${pod}`,
  uid = `uid-${pod}`,
): Untimed {
  const sandbox = { namespace: 'default', pod, uid, provider, containerId, interface: 'net1' };
  return { type: 'Bind', ...sandbox, node: 'node-1', bootId: 'boot-1' };
}

/** Ends the binding of `bind(pod)`. */
export const unbind = (pod: string, containerId = `container-of-${pod}`): Untimed => {
  return { type: 'Unbind', containerId, interface: 'net1', cause: 'container-deleted' };
};

/** The answer to {@link requestFor}. */
export interface Answer {
  /** The number of events of the command. */
  readonly events: number;
  /** The Pod's addresses after an Allocate. */
  readonly addresses: readonly string[];
}

/** A request that runs a command in a writer. */
export const requestFor = (untimed: Untimed, signal = never): PendingRequest<Answer> => ({
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

/**
 * A batch of these events after a head. Each event is a command of its own. `more` overrides parts
 * of the batch.
 */
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
    const { stored, head } = chainEvent(after, event, { id: newId(), command: newId(), ...wrapping });
    after = head;
    return { seq: stored.envelope.seq, text: stored.text };
  });
  return {
    ...noChanges,
    head: { before, after },
    events: lines,
    requiresUnfrozen: true,
    writer: undefined,
    ...more,
  };
}

/** A running writer with its replica. */
export interface RunningWriter {
  readonly replica: Replica;
  readonly writer: Writer;
  /** Stops the writer. Resolves to the error of `run`, or undefined. */
  stop(): Promise<unknown>;
}

/**
 * Starts a writer with its own replica. It retries within milliseconds. If it fails, all requests
 * reject with its error: a spec does not wait for its time limit.
 */
export async function startWriter(ledger: Ledger, more: Partial<WriterOptions> = {}): Promise<RunningWriter> {
  const replica = more.replica ?? (await Replica.load(ledger, never));
  const retry = { firstMs: 1, maxMs: 4 };
  const eventVersion = () => eventVersions.at(-1) as EventVersion;
  const writer = new Writer({ newId, term: undefined, eventVersion, log: silentLog, retry, ...more, replica });
  const stopping = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined); // a writer without requests may fail
  const ended = writer.run(stopping.signal).catch((error: unknown) => {
    failed.reject(error);
    return error;
  });
  const submit = writer.submit.bind(writer);
  const isInMemory = ledger instanceof MemoryLedger || ledger instanceof UnreliableLedger;
  const answering = isInMemory ? watchAnswers(failed.reject) : <Answer>(answer: Promise<Answer>) => answer;
  writer.submit = (request) => Promise.race([answering(submit(request)), failed.promise]);
  const stop = (): Promise<unknown> => {
    stopping.abort();
    return ended;
  };
  return { replica, writer, stop };
}

/** The ticks without an answer after which a request is said to be lost. */
const maxSilentTicks = 2_000;

/**
 * Calls `onSilence` when none of several answers comes while timers fire {@link maxSilentTicks}
 * times. What works on a ledger in memory makes its pauses by timers of the same event loop, so
 * this does not depend on the speed of the machine.
 */
export function watchAnswers(onSilence: (error: Error) => void): <Answer>(answer: Promise<Answer>) => Promise<Answer> {
  let [pending, silentTicks] = [0, 0];
  let ticking: NodeJS.Timeout | undefined;
  const tick = (): void => {
    if (++silentTicks > maxSilentTicks) onSilence(new Error('a request is left without an answer'));
  };
  return (answer) => {
    if (pending++ === 0) ticking = setInterval(tick, 1).unref();
    silentTicks = 0;
    const end = (): void => {
      silentTicks = 0;
      if (--pending === 0) clearInterval(ticking);
    };
    answer.then(end, end);
    return answer;
  };
}

/** The answer of a promise, which must come before timers fire a thousand times. */
export async function answerOf<Answer>(promise: Promise<Answer>): Promise<Answer> {
  let hasAnswer = false;
  const end = (): void => void (hasAnswer = true);
  promise.then(end, end);
  await waitUntil(() => hasAnswer, 'the answer');
  return promise;
}

/** Waits for a condition, which must hold before timers fire a thousand times. */
export async function waitUntil(holds: () => boolean, what: string): Promise<void> {
  for (let ticks = 0; !holds(); ticks++) {
    if (ticks === 1_000) throw new Error(`${what} did not come before timers fired a thousand times`);
    await sleep(1);
  }
}

/** Starts a writer behind a faulty network. The ledger has both Subnets. */
export async function startUnreliableWriter(more: Partial<WriterOptions> = {}) {
  const memory = new MemoryLedger();
  const ledger = new UnreliableLedger(memory);
  const working = await startWriter(ledger, more);
  await submitAll(working.writer, createLedger(), macvlan, small);
  return { memory, ledger, working };
}

/** Submits commands one after another. */
export async function submitAll(writer: Writer, ...commands: readonly Untimed[]): Promise<void> {
  for (const command of commands) await writer.submit(requestFor(command));
}

/** The command that every ledger begins with. */
export const createLedger = (): Untimed => ({ type: 'CreateLedger', ledger: newId() });

export const typesOf = (events: readonly StoredEvent[]): string[] => events.map(({ envelope }) => envelope.type);

/** All lines of a log, parsed. */
export async function logOf(ledger: Ledger): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of ledger.read(1, never)) for (const { text } of page) events.push(parseEvent(text));
  return events;
}

/** Describes the state that follows from a log. */
export function describeFold(events: readonly StoredEvent[]): object {
  const state = initialState();
  for (const { sequenced } of events) evolve(state, sequenced, new UndoLog());
  return describeState(state);
}

/** The error of a promise, which must reject. */
export async function failureOf(promise: Promise<unknown>): Promise<IpledgerError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error as IpledgerError,
  );
  if (!outcome) throw new Error('the promise did not reject');
  return outcome;
}

/** A promise that resolves when `open` is called. */
export function createLatch(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** Waits long enough for all retries on the memory ledger. */
export const waitForRetries = (): Promise<void> => sleep(20);

/**
 * Counts the turns of the event loop, in a process whose clock shows the time that a test spends.
 */
export function countTurns(): { readonly spend: (ms: number) => number; readonly end: () => void } {
  let [turn, spentMs] = [0, 0];
  let next = setImmediate(function count() {
    turn++;
    next = setImmediate(count);
  });
  const now = performance.now.bind(performance);
  performance.now = () => now() + spentMs;
  return {
    /** Spends time in this turn. Returns the number of the turn. */
    spend: (ms) => {
      spentMs += ms;
      return turn;
    },
    end: () => {
      performance.now = now;
      clearImmediate(next);
    },
  };
}
