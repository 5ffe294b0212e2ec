/**
 * The terminal of the demo: what it shows is what it runs, in a plain shell that starts in the checkout and knows nothing
 * of us, so that a reader who types the same sees the same.
 */
import { delimiter } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mustRun } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import { linesOf, type Trim, whole } from './trim.ts';

const widest = 120;
const pollMs = 150;
const soonMs = 30_000;

export interface Look {
  /** As a user types it; may have several lines. */
  readonly command: string;
  /** Throws what is wrong with the output. */
  readonly check: (output: string) => void;
  /** What of the output is shown (default all). */
  readonly trim?: Trim;
  /** What is proven by now, said when `check` has passed. */
  readonly proves?: string;
}

export interface Terminal {
  /** Begins the next step of the story: what happens in it, and why. */
  step(...lines: readonly string[]): void;
  /** Says something within a step. */
  say(text: string): void;
  /** Shows a command that holds for all that follow: `cd`, a variable, a function. */
  define(...lines: readonly string[]): void;
  /** Runs a command once, and shows its output; that has to pass. @throws Error when it does not, or the command fails. */
  act(look: Look): Promise<string>;
  /** Runs a command that only looks again and again until its output passes (at most 30 s); shows the last. @throws as `act`. */
  look(look: Look): Promise<string>;
}

/** @param cacheFolder for kubectl, which would remember this cluster in the user's home. */
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
    say: (text) => console.log(`  ${text}`),
    define(...lines) {
      defined.push(lines.join('\n'));
      showCommand(lines.join('\n'));
    },
    async act(look) {
      const output = await shell(look.command);
      examine(look, output);
      show(look, output);
      return output;
    },
    async look(look) {
      const deadline = Date.now() + soonMs;
      for (;;) {
        const output = await shell(look.command);
        try {
          examine(look, output);
          show(look, output);
          return output;
        } catch (error) {
          if (Date.now() > deadline) throw error;
        }
        await sleep(pollMs, undefined, { signal });
      }
    },
  };
}

/** Without what `make` has put on PATH: another terminal has not got it either. */
function environment(cacheFolder: string): NodeJS.ProcessEnv {
  const inherited = childEnvironment({ KUBECACHEDIR: cacheFolder });
  const path = (inherited['PATH'] ?? '').split(delimiter).filter((entry) => !entry.endsWith('node_modules/.bin'));
  return { ...inherited, PATH: path.join(delimiter) };
}

function examine({ command, check }: Look, output: string): void {
  try {
    check(output);
  } catch (error) {
    const wrong = error instanceof Error ? error.message : String(error);
    throw new Error(`this is not what it should be: ${wrong}\n$ ${command}\n${output.trimEnd()}`, { cause: error });
  }
}

function show({ command, proves, trim = whole }: Look, output: string): void {
  showCommand(command);
  for (const line of trim(linesOf(output))) console.log(fit(`  ${line.trimEnd()}`));
  if (proves !== undefined) console.log(`  ✓ ${proves}`);
}

function showCommand(command: string): void {
  const [first = '', ...others] = command.split('\n');
  console.log(`  $ ${first}`);
  for (const line of others) console.log(`    ${line}`);
}

function fit(line: string): string {
  return line.length > widest ? `${line.slice(0, widest - 1)}…` : line;
}
