/**
 * The terminal of the demo. It runs the commands that it shows, in a plain shell that starts in the
 * checkout: the same commands give the same output in any terminal.
 */
import { delimiter } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../lib/errors.ts';
import { mustRun } from '../../test/harness/processes/command.ts';
import { childEnvironment } from '../../test/harness/processes/launch.ts';
import { root } from '../../test/harness/paths.ts';
import { splitLines, type OutputFilter, allLines } from './output-filter.ts';

const maxColumns = 120;
const pollMs = 150;
const timeoutMs = 30_000;

export interface DemoCommand {
  /** A shell command, also of several lines. */
  readonly command: string;
  /** @throws Error when the output is not the expected one */
  readonly check: (output: string) => void;
  /** Selects the output to show (default: all). */
  readonly trim?: OutputFilter;
  /** A statement to print after `check` has passed. */
  readonly proves?: string;
}

export interface Terminal {
  /** Starts the next step: prints what happens in it, and why. */
  step(...lines: readonly string[]): void;
  /** Prints a line within a step. */
  print(text: string): void;
  /** Shows a command that applies to all later ones: `cd`, a variable, a function. */
  define(...lines: readonly string[]): void;
  /**
   * Runs a command one time, and shows its output.
   * @throws Error when the command or its check fails.
   */
  run(step: DemoCommand): Promise<string>;
  /**
   * Repeats a command that only reads until its check passes (at most 30 s); shows the last output.
   * @throws as `run`.
   */
  runUntilPassed(step: DemoCommand): Promise<string>;
}

/** @param cacheFolder for kubectl, which otherwise caches this cluster in the user's home */
export function openTerminal(cacheFolder: string, signal: AbortSignal): Terminal {
  const defined: string[] = [];
  const env = environment(cacheFolder);
  let steps = 0;
  const shell = (command: string): Promise<string> =>
    mustRun('sh', ['-c', [...defined, command].join('\n')], { env, folder: root, signal });
  return {
    step(...lines) {
      const number = `${(steps += 1)}. `;
      console.log(`\n${number}${lines.join(`\n${' '.repeat(number.length)}`)}`);
    },
    print: (text) => console.log(`  ${text}`),
    define(...lines) {
      defined.push(lines.join('\n'));
      showCommand(lines.join('\n'));
    },
    async run(step) {
      const output = await shell(step.command);
      checkOutput(step, output);
      showOutput(step, output);
      return output;
    },
    async runUntilPassed(step) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const output = await shell(step.command);
        try {
          checkOutput(step, output);
          showOutput(step, output);
          return output;
        } catch (error) {
          if (Date.now() > deadline) throw error;
        }
        await sleep(pollMs, undefined, { signal });
      }
    },
  };
}

/** The environment without the folder that `make` adds to PATH: other terminals do not have it. */
function environment(cacheFolder: string): NodeJS.ProcessEnv {
  const inherited = childEnvironment({ KUBECACHEDIR: cacheFolder });
  const path = (inherited['PATH'] ?? '').split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'));
  return { ...inherited, PATH: path.join(delimiter) };
}

function checkOutput({ command, check }: DemoCommand, output: string): void {
  try {
    check(output);
  } catch (error) {
    const reason = errorMessage(error);
    throw new Error(`the output of this command is wrong: ${reason}\n$ ${command}\n${output.trimEnd()}`, {
      cause: error,
    });
  }
}

function showOutput({ command, proves, trim = allLines }: DemoCommand, output: string): void {
  showCommand(command);
  for (const line of trim(splitLines(output))) console.log(fit(`  ${line.trimEnd()}`));
  if (proves !== undefined) console.log(`  ✓ ${proves}`);
}

function showCommand(command: string): void {
  const [first = '', ...others] = command.split('\n');
  console.log(`  $ ${first}`);
  for (const line of others) console.log(`    ${line}`);
}

function fit(line: string): string {
  return line.length > maxColumns ? `${line.slice(0, maxColumns - 1)}…` : line;
}
