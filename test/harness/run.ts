/**
 * A run: the scope that everything a test starts or makes belongs to, and ends with.
 *
 * What must not outlive it is guarded twice. Processes carry a parent-death signal (server.ts): the kernel kills them
 * with us. Folders and network namespaces are removed by a janitor, a process of its own that waits for its stdin to
 * close: that happens at `end()`, and also when we are SIGKILLed. It is the only one who removes them, so that the way
 * taken after a crash is the way taken every time.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Run {
  /** Eight hexadecimal digits, part of each name that is visible on the whole machine: unique among runs. */
  readonly id: string;
  /** A folder of its own, short enough for sockets; kept after the run when KEEP=1 is in the environment. */
  readonly folder: string;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  /** Something to undo at the end, if we live to see it; the last registered is undone first. */
  onEnd(undo: () => Promise<void> | void): void;
  /** A command that removes something which would outlive our process; it is run once, after `onEnd`'s. */
  leave(command: readonly string[]): void;
  /** Ends everything; resolves when nothing is left. The second call does nothing. */
  end(): Promise<void>;
}

/** Opens a run; close it with `end()` in the suite's `after`. */
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
    leave: (command) => janitor.add(command),
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
  if (process.env['KEEP'] !== '1') run.leave(['rm', '-rf', folder]);
  return run;
}

function startJanitor() {
  const child = spawn('sh', [join(import.meta.dirname, 'janitor')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // it must survive a Ctrl-C that ends us
  });
  const ended = once(child, 'exit');
  ended.catch(() => undefined);
  // A suite that forgets to end its run must not hang for it: the janitor comes anyway when we exit.
  child.unref();
  const { stdin } = child;
  (stdin as typeof stdin & { unref(): void }).unref();
  return {
    add: (command: readonly string[]): void => void stdin.write(`${command.map(quote).join(' ')}\n`),
    async finish(): Promise<void> {
      child.ref();
      stdin.end();
      await ended;
    },
  };
}

/** As a shell reads it back. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
