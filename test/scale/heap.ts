/**
 * The live heap of a program: its size after a garbage collection. The resident size (RSS) is no
 * measure, because V8 returns memory late.
 *
 * A program that starts under `enableHeapProbes` answers SIGUSR2 with a file.
 */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '../e2e/support/eventually.ts';

const folderVariable = 'HEAP_PROBE_FOLDER';

/** Preloads the heap probe into each Node program that starts from now on, until `end`. */
export function enableHeapProbes() {
  const folder = mkdtempSync(join(tmpdir(), 'heaps-'));
  const before = process.env['NODE_OPTIONS'];
  process.env[folderVariable] = folder;
  process.env['NODE_OPTIONS'] = `--import ${pathToFileURL(join(import.meta.dirname, 'heap-probe.ts')).href}`;
  return {
    /** Measures the live heap of a program with its buffers, in bytes. */
    async liveBytes({ pid }: { readonly pid: number }): Promise<number> {
      const file = join(folder, String(pid));
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      return eventually(() => Number(readFileSync(file, 'utf8')));
    },
    /** Measures the live heap of a program with its buffers, in MiB. */
    async liveMiB(program: { readonly pid: number }): Promise<number> {
      return Math.round((await this.liveBytes(program)) / 2 ** 20);
    },
    end(): void {
      delete process.env[folderVariable];
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Writes the live heap of this process to the file that `liveMiB` reads. */
export function writeLiveHeap(bytes: number): void {
  const folder = process.env[folderVariable];
  if (folder === undefined || !existsSync(folder)) return;
  const file = join(folder, String(process.pid));
  writeFileSync(`${file}.new`, String(bytes));
  renameSync(`${file}.new`, file);
}
