/**
 * Virtual time for unchanged programs. While it is installed, the clocks, timers and random numbers
 * of Node are those of the program that calls them, which AsyncLocalStorage finds. Other callers
 * get the real ones.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import timersPromises from 'node:timers/promises';
import { recordCombinedListeners } from './combined-signals.ts';
import { type ProgramClock, running } from './program-clock.ts';
import { VirtualTimer } from './virtual-timer.ts';
import { patchZlib } from './virtual-zlib.ts';

type Act = (...args: unknown[]) => void;

/** Replaces Node's functions. Returns a function that puts them back. */
export function installVirtualTime(): () => void {
  const undo = [
    ...Object.entries(globalFunctions()).map(([name, made]) => replace(globalThis, name, made)),
    replace(
      performance,
      'now',
      virtual(performance.now.bind(performance), (clock) => clock.monotonic()),
    ),
    replace(
      Math,
      'random',
      virtual(Math.random, (clock) => clock.random()),
    ),
    replace(AbortSignal, 'timeout', virtual(AbortSignal.timeout.bind(AbortSignal), abortAfter)),
    replace(timersPromises, 'setTimeout', virtual(timersPromises.setTimeout, sleep)),
    replace(timersPromises, 'setImmediate', virtual(timersPromises.setImmediate, nextTurn)),
    replace(crypto, 'randomBytes', virtual(crypto.randomBytes as (size: number) => Buffer, randomBytes)),
    replace(crypto, 'randomUUID', virtual(crypto.randomUUID as () => string, randomUuid)),
    replace(crypto, 'randomInt', virtual(crypto.randomInt as (first: number, end?: number) => number, randomInt)),
    replace(
      os,
      'uptime',
      virtual(os.uptime, (clock) => clock.monotonic() / 1_000),
    ),
    patchZlib(),
    recordCombinedListeners(),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const each of undo.toReversed()) each();
    syncBuiltinESMExports();
  };
}

/** A function that has another meaning inside of a program. */
const virtual =
  <Args extends unknown[], Result>(
    real: (...args: Args) => Result,
    inProgram: (clock: ProgramClock, ...args: Args) => Result,
  ) =>
  (...args: Args): Result => {
    const clock = running.getStore();
    return clock ? inProgram(clock, ...args) : real(...args);
  };

function replace(target: object, name: string, made: unknown): () => void {
  const former = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value: made, writable: true, configurable: true, enumerable: true });
  return () => {
    if (former) Object.defineProperty(target, name, former);
    else Reflect.deleteProperty(target, name);
  };
}

function globalFunctions(): Record<string, unknown> {
  const real = { Date, setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  const now = virtual(real.Date.now, (clock) => clock.wall());
  const cancel = (clear: (timer?: never) => void) => (timer?: unknown) =>
    timer instanceof VirtualTimer ? timer.cancel() : clear(timer as never);
  return {
    Date: new Proxy(real.Date, {
      construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made) as object,
      get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
    }),
    setTimeout: virtual(real.setTimeout as (act: Act, ms?: number, ...args: unknown[]) => unknown, startTimer),
    setInterval: virtual(
      real.setInterval as (act: Act, ms?: number, ...args: unknown[]) => unknown,
      (clock, act, ms = 1, ...args) => startTimer(clock, act, ms, ...args).repeat(Math.max(1, ms)),
    ),
    setImmediate: virtual(
      real.setImmediate as (act: Act, ...args: unknown[]) => unknown,
      (clock, act, ...args) =>
        new VirtualTimer(
          (run) => clock.soon(run),
          () => act(...args),
        ),
    ),
    clearTimeout: cancel(real.clearTimeout),
    clearInterval: cancel(real.clearInterval),
    clearImmediate: cancel(real.clearImmediate),
  };
}

const startTimer = (clock: ProgramClock, act: Act, ms = 1, ...args: unknown[]): VirtualTimer =>
  new VirtualTimer(
    (run, laterMs = Math.max(1, ms)) => clock.after(laterMs, run),
    () => act(...args),
  );

function abortAfter(clock: ProgramClock, ms: number): AbortSignal {
  const controller = new AbortController();
  clock.after(ms, () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
  return controller.signal;
}

interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
}

const sleep = <T>(clock: ProgramClock, ms = 1, value?: T, { signal }: WaitOptions = {}): Promise<T> =>
  waitFor((done) => clock.after(Math.max(1, ms), done), value as T, signal);

const nextTurn = <T>(clock: ProgramClock, value?: T, { signal }: WaitOptions = {}): Promise<T> =>
  waitFor((done) => clock.soon(done), value as T, signal);

function waitFor<T>(start: (done: () => void) => () => void, value: T, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      cancel();
      reject(new AbortError(signal?.reason));
    };
    if (signal?.aborted) return reject(new AbortError(signal.reason));
    const cancel = start(() => {
      signal?.removeEventListener('abort', fail);
      resolve(value);
    });
    signal?.addEventListener('abort', fail, { once: true });
  });
}

/** As Node's timers reject. */
class AbortError extends Error {
  readonly code = 'ABORT_ERR';
  override readonly name = 'AbortError';

  constructor(cause: unknown) {
    super('The operation was aborted', { cause });
  }
}

function randomBytes(clock: ProgramClock, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let index = 0; index < size; index++) bytes[index] = Math.floor(clock.random() * 256);
  return bytes;
}

/** The end is not included, and may be the only argument. */
function randomInt(clock: ProgramClock, first: number, end?: number): number {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  return from + Math.floor(clock.random() * (to - from));
}

function randomUuid(clock: ProgramClock): string {
  const hex = randomBytes(clock, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
