/**
 * Passes mutated inputs to a target. An input with a new outcome becomes a seed, so that later
 * inputs reach further. All choices follow from the seed number.
 */
import { createSource } from '../faults/seeded-random.ts';
import { readCorpus } from './corpus.ts';
import { FuzzFailure, type FuzzTarget, tryInput } from './fuzz-target.ts';
import { mutate } from './mutate.ts';

/** The limits of inputs that become seeds. Large inputs take long. */
const maxRareBytes = 8 << 10;
const maxRare = 512;

export interface FuzzRun {
  readonly inputs: number;
  /** The number of each outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
}

export interface RunOptions {
  readonly seed: number;
  /** Whether the run is done after this many inputs. */
  readonly isDone: (inputs: number) => boolean;
  /** Called before each input. */
  readonly onInput?: (input: Buffer) => void;
  /** Called after each input. */
  readonly onTried?: (input: Buffer) => void;
}

/** An input that failed. */
export class FailedInput extends Error {
  override readonly name = 'FailedInput';
  readonly input: Buffer;

  constructor(target: FuzzTarget, input: Buffer, failure: FuzzFailure) {
    super(`${target.name}: ${failure.message}`, { cause: failure.cause ?? failure });
    this.input = input;
  }
}

/** @throws FailedInput */
export async function runTarget(target: FuzzTarget, options: RunOptions): Promise<FuzzRun> {
  const { isDone, onInput, onTried } = options;
  const random = createSource(options.seed);
  const valid = target.seeds().map((each) => Buffer.from(each));
  const rare = readCorpus(target);
  const outcomes = new Map<string, number>();
  let inputs = 0;
  const tryOne = async (input: Buffer): Promise<void> => {
    onInput?.(input);
    const outcome = await outcomeOf(target, input);
    onTried?.(input);
    inputs++;
    const count = outcomes.get(outcome) ?? 0;
    outcomes.set(outcome, count + 1);
    if (count === 0 && rare.length < maxRare && input.length <= maxRareBytes) rare.push(input);
  };
  for (const seed of [...valid, ...rare]) await tryOne(seed);
  while (!isDone(inputs)) await tryOne(mutate(target.format, { valid, rare }, random, target.maxBytes));
  return { inputs, outcomes };
}

/** Awaits an outcome only if it is a promise: a turn of the queue costs more than most inputs. */
async function outcomeOf(target: FuzzTarget, input: Buffer): Promise<string> {
  try {
    const outcome = tryInput(target, input);
    return typeof outcome === 'string' ? outcome : await outcome;
  } catch (error) {
    if (error instanceof FuzzFailure) throw new FailedInput(target, input, error);
    throw error;
  }
}
