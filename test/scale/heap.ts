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

/** The live heap of a program, in bytes. */
export interface LiveHeap {
  /** All of the heap, with its buffers. */
  readonly bytes: number;
  /**
   * The part of it with bytecode and machine code, which grows while V8 compiles more functions.
   */
  readonly codeBytes: number;
}

const folderVariable = 'HEAP_PROBE_FOLDER';
const poolVariable = 'HEAP_PROBE_BUFFER_POOL';

/**
 * Preloads the heap probe into each Node program that starts from now on, until `end`.
 * @param hasBufferPool whether small buffers share pages of 64 KiB, as in production. A page stays
 *   while one of its buffers does, for example the TLS session of a connection.
 */
export function enableHeapProbes({ hasBufferPool = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'heaps-'));
  const before = process.env['NODE_OPTIONS'];
  process.env[folderVariable] = folder;
  if (!hasBufferPool) process.env[poolVariable] = 'none';
  process.env['NODE_OPTIONS'] = `--import ${pathToFileURL(join(import.meta.dirname, 'heap-probe.ts')).href}`;
  return {
    /** Measures the live heap of a program. */
    async liveHeap({ pid }: { readonly pid: number }): Promise<LiveHeap> {
      const file = join(folder, String(pid));
      rmSync(file, { force: true });
      process.kill(pid, 'SIGUSR2');
      return eventually(() => JSON.parse(readFileSync(file, 'utf8')) as LiveHeap);
    },
    /** Measures the live heap of a program with its buffers, in bytes. */
    async liveBytes(program: { readonly pid: number }): Promise<number> {
      return (await this.liveHeap(program)).bytes;
    },
    /** Measures the live heap of a program with its buffers, in MiB. */
    async liveMiB(program: { readonly pid: number }): Promise<number> {
      return Math.round((await this.liveBytes(program)) / 2 ** 20);
    },
    end(): void {
      delete process.env[folderVariable];
      delete process.env[poolVariable];
      if (before === undefined) delete process.env['NODE_OPTIONS'];
      else process.env['NODE_OPTIONS'] = before;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether `enableHeapProbes` was called without a pool of buffers. */
export const mustDisableBufferPool = (): boolean => process.env[poolVariable] === 'none';

/** Writes the live heap of this process to the file that `liveHeap` reads. */
export function writeLiveHeap(heap: LiveHeap): void {
  const folder = process.env[folderVariable];
  if (folder === undefined || !existsSync(folder)) return;
  const file = join(folder, String(process.pid));
  writeFileSync(`${file}.new`, JSON.stringify(heap));
  renameSync(`${file}.new`, file);
}
