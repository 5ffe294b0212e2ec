/**
 * A run: the lifetime of everything that a test starts or creates.
 *
 * Nothing outlives a run, also after SIGKILL of the test process. Processes have a parent-death
 * signal (server.ts), so the kernel kills them. Folders and network namespaces are removed by a
 * janitor process, which waits until its stdin closes. Only the janitor removes them, so the
 * cleanup after a crash is the same as after `end()`.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Run {
  /** An id of eight hexadecimal digits, unique among runs. Each name on the machine contains it. */
  readonly id: string;
  /**
   * Folder of the run. Its path is short enough for sockets. KEEP=1 in the environment keeps it
   * after the run.
   */
  readonly folder: string;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  /** Registers a cleanup for `end`, in reverse order. It does not run after a crash. */
  onEnd(undo: () => Promise<void> | void): void;
  /**
   * Registers a command that the janitor runs once, after the cleanups of `onEnd`. It also runs
   * after a crash.
   */
  cleanUpWith(command: readonly string[]): void;
  /** Ends the run. Resolves when everything is removed. A second call has no effect. */
  end(): Promise<void>;
}

/** Opens a run. Call `end()` in `after` of the suite. */
export function openRun(): Run {
  const id = randomBytes(4).toString('hex');
  const folder = join(tmpdir(), `ipledger-${id}`);
  mkdirSync(folder, { mode: 0o700 });
  const controller = new AbortController();
  const undos: (() => Promise<void> | void)[] = [];
  const janitor = startJanitor();
  const run: Run = {
    id,
    folder,
    signal: controller.signal,
    onEnd: (undo) => undos.push(undo),
    cleanUpWith: (command) => janitor.add(command),
    async end() {
      if (controller.signal.aborted) return;
      controller.abort();
      const failures: unknown[] = [];
      for (const undo of undos.reverse()) {
        try {
          await undo();
        } catch (error) {
          failures.push(error);
        }
      }
      await janitor.finish();
      if (failures.length > 0) throw new AggregateError(failures, 'the run did not end cleanly');
    },
  };
  if (process.env['KEEP'] !== '1') run.cleanUpWith(['rm', '-rf', folder]);
  return run;
}

function startJanitor() {
  const child = spawn('sh', [join(import.meta.dirname, 'janitor')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // the janitor must survive a Ctrl-C that ends this process
  });
  const ended = once(child, 'exit');
  ended.catch(() => undefined);
  // A suite without `end()` must not hang: the janitor also works when this process exits
  child.unref();
  const { stdin } = child;
  (stdin as typeof stdin & { unref(): void }).unref();
  return {
    add: (command: readonly string[]): void => void stdin.write(`${command.map(quoteForShell).join(' ')}\n`),
    async finish(): Promise<void> {
      child.ref();
      stdin.end();
      await ended;
    },
  };
}

/** Quotes a text for a shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
