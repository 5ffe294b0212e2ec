/** A target: a place where bytes from outside enter a program, and the errors that reject them. */
import { IpledgerError } from '../../lib/errors.ts';

export type InputFormat = 'json' | 'lines' | 'text' | 'bytes';

export interface FuzzTarget {
  /** The name "<part>/<what>", also of its corpus. */
  readonly name: string;
  /** The format for mutations. The bytes of each format are mutated, too. */
  readonly format: InputFormat;
  /** The longest input that the program reads. */
  readonly maxBytes: number;
  /** Valid inputs. */
  readonly seeds: () => readonly (string | Uint8Array)[];
  /** Whether the state of the target refuses also valid inputs. */
  readonly isRefusing?: boolean;
  /** Reads an input as the program does. A thrown error rejects it. */
  readonly decode: (input: Buffer) => unknown;
  /** The classes of its other clear errors, besides IpledgerError. */
  readonly rejections?: readonly ErrorClass[];
  /** The most values that a byte of input may become; default 4. */
  readonly valuesPerByte?: number;
}

type ErrorClass = abstract new (...args: never[]) => Error;

/** The failure of an input: a result that no input may have. */
export class FuzzFailure extends Error {
  override readonly name = 'FuzzFailure';
}

/** The longest message. Longer errors fill logs, Events and terminals. */
const maxMessageLength = 4_096;
/** Messages of the JavaScript engine: they name a line of the program and no fault of the input. */
const engineMessage =
  /Cannot (?:read|set|convert|destructure|mix)|is not (?:a function|iterable|a constructor)|call stack|Invalid (?:array|string) length|Assignment to constant|\[object Object\]/;
/** The values that any input may become: defaults of absent fields. */
const freeValues = 1_000;
const defaultValuesPerByte = 4;

/**
 * Passes an input to a target.
 * @returns the outcome: "accepted", or the message without its quotes and numbers
 * @throws FuzzFailure for an unclear error, and for values out of proportion to the input
 */
export function tryInput(target: FuzzTarget, input: Buffer): string | Promise<string> {
  try {
    const value = target.decode(input);
    if (value instanceof Promise)
      return value.then(
        (settled: unknown) => acceptedValue(target, input, settled),
        (error: unknown) => rejection(target, error),
      );
    return acceptedValue(target, input, value);
  } catch (error) {
    return rejection(target, error);
  }
}

function acceptedValue({ valuesPerByte = defaultValuesPerByte }: FuzzTarget, input: Buffer, value: unknown): string {
  const most = freeValues + valuesPerByte * input.length;
  if (countValues(value, most) > most) throw new FuzzFailure(`${input.length} bytes became more than ${most} values`);
  return 'accepted';
}

function rejection({ rejections = [] }: FuzzTarget, error: unknown): string {
  if (error instanceof FuzzFailure) throw error;
  const isClear =
    error instanceof IpledgerError ? error.kind !== 'bug' : rejections.some((each) => error instanceof each);
  if (!(error instanceof Error) || !isClear)
    throw new FuzzFailure(`an error of the program, not of the input: ${String(error)}`, { cause: error });
  assertClear(error.message, error);
  return shapeOf(error.message);
}

/** @throws FuzzFailure for a text that does not help its reader */
export function assertClear(text: string, cause?: unknown): void {
  if (text === '') throw new FuzzFailure('an error without a message', { cause });
  if (text.length > maxMessageLength) throw new FuzzFailure(`a message of ${text.length} characters`, { cause });
  if (engineMessage.test(text)) throw new FuzzFailure(`a message of the engine: ${text}`, { cause });
}

/** The shape of a message. Messages of one cause have the same shape. */
const shapeOf = (message: string): string =>
  message
    .slice(0, 200)
    .replaceAll(/"[^"]*"?|'[^']*'?|`[^`]*`?/g, '"')
    .replaceAll(/[^A-Za-z "]+/g, '#')
    .slice(0, 80);

/** Counts the values in a value, up to one more than `most`. */
function countValues(value: unknown, most: number): number {
  const waiting: unknown[] = [value];
  let count = 0;
  while (waiting.length > 0 && count <= most) {
    const each = waiting.pop();
    count++;
    if (typeof each !== 'object' || each === null || ArrayBuffer.isView(each)) continue;
    const inner = each instanceof Map || each instanceof Set ? each.values() : Object.values(each);
    for (const one of inner) {
      if (waiting.length + count > most) return most + 1;
      waiting.push(one);
    }
  }
  return count;
}
