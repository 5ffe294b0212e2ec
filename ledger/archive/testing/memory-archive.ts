/** An archive of limited size in memory, for specs. */
import type { BoundedArchive } from '../archive.ts';
import { damagedFile } from '../archive.ts';

export class MemoryArchive implements BoundedArchive {
  readonly location = 'memory';
  readonly files = new Map<string, Buffer>();
  maxBytes = Infinity;

  put(name: string, content: Buffer): Promise<void> {
    this.files.set(name, content);
    return Promise.resolve();
  }

  async get(name: string, maxBytes: number): Promise<Buffer | undefined> {
    const content = this.files.get(name);
    if (content && content.length > maxBytes) throw damagedFile(name, 'it is too large');
    return Promise.resolve(content);
  }

  size(): Promise<number> {
    return Promise.resolve([...this.files.values()].reduce((sum, { length }) => sum + length, 0));
  }

  deleteBefore(folder: string, name: string): Promise<void> {
    for (const each of this.files.keys()) if (each.startsWith(folder) && each < name) this.files.delete(each);
    return Promise.resolve();
  }
}
