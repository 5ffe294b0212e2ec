/**
 * How much a program really holds in memory: its heap after a collection. What it has from the kernel (RSS) says little,
 * since V8 gives nothing back in a hurry.
 *
 * A program that was started under `probedHeaps` answers SIGUSR2 with a file.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../e2e/eventually.ts';

const folderVariable = 'HEAP_PROBE_FOLDER';

/** Node programs that are started from now on can be asked, until it is ended. */
export function probedHeaps() {
  const folder = mkdtempSync(join(tmpdir(), 'heaps-'));
  const before = process.env['NODE_OPTIONS'];
  process.env[folderVariable] = folder;
  process.env['NODE_OPTIONS'] = `--import ${pathToFileURL(join(import.meta.dirname, 'heap-probe.ts')).href}`;
  return {
    /** MiB that live in a program's heap now. */
    async liveMiB({ pid }: { readonly pid: number }): Promise<number> {
      const file = join(folder, String(pid));
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      return eventually(() => Math.round(Number(readFileSync(file, 'utf8')) / 2 ** 20));
    },
    end(): void {
      delete process.env[folderVariable];
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Puts the answer of this process where `liveMiB` looks for it. */
export function answer(bytes: number): void {
  const folder = process.env[folderVariable];
  if (folder === undefined || !existsSync(folder)) return;
  const file = join(folder, String(process.pid));
  writeFileSync(`${file}.new`, String(bytes));
  renameSync(`${file}.new`, file);
}
