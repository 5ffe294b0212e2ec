/**
 * Records in the folder of binding files that it has a file of each binding which the ledger has of
 * this boot. From then on, a binding without a file is one that a DEL has ended: a file is written
 * before its Bind, and removed after the end of its binding. A restored backup brings such bindings
 * back. The record is void in another boot, and as soon as a file may be missing.
 */
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { checkShape } from '../../../lib/check-shape.ts';
import { tryParseJson } from '../../../lib/kubernetes/untyped-json.ts';
import { readTrustedFile } from '../../../lib/process/trusted-file.ts';

const maxBytes = 1_024;
const schema = z.object({ bootId: z.string(), epoch: z.number().int().positive() });

export class FolderRecord {
  readonly #path: string;
  readonly #bootId: string;
  #epoch: number | undefined;
  #discards = 0;
  #isRemovalDue = false;

  /** @param node agents of a test machine may share the folder */
  constructor(folder: string, node: string, bootId: string) {
    this.#path = join(folder, `complete@${node}`);
    this.#bootId = bootId;
  }

  /**
   * The epoch of the ledger in which the folder was complete; undefined if it may lack a file.
   */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  /** How often a file could not be read or written: a comparison that began before is void. */
  get discards(): number {
    return this.#discards;
  }

  /** Reads the record, and writes a new one: it counts only in a folder that can be written. */
  async read(): Promise<void> {
    const text = await readTrustedFile(this.#path, maxBytes).catch(() => '');
    const { data } = checkShape(schema, tryParseJson(text));
    if (data?.bootId === this.#bootId) await this.save(data.epoch);
    else await this.discard();
  }

  /**
   * Writes a new file, which shows that the folder can be written. Resolves also when it cannot:
   * then the folder may lack files, too.
   */
  async save(epoch: number): Promise<void> {
    this.#epoch = undefined;
    const before = this.#discards;
    try {
      await replaceFile(this.#path, JSON.stringify({ bootId: this.#bootId, epoch }));
      if (this.#discards !== before) return await this.discard();
      this.#isRemovalDue = false;
      this.#epoch = epoch;
    } catch {
      await this.discard();
    }
  }

  /** Must be called when a file could not be read or written. */
  async discard(): Promise<void> {
    this.#epoch = undefined;
    this.#discards++;
    this.#isRemovalDue = true;
    await this.repeatDiscard();
  }

  /**
   * Removes a discarded record, if that has failed. A folder that was read-only and can be written
   * now lacks the files of that time, and the next run of the agent would trust its record.
   */
  async repeatDiscard(): Promise<void> {
    if (!this.#isRemovalDue) return;
    try {
      await rm(this.#path, { force: true });
      this.#isRemovalDue = false;
    } catch {
      // The next pass of the agent removes it.
    }
  }
}

/**
 * Writes a file of the folder completely or not at all. It is a new file each time: a folder may
 * permit writes to a present file, and no new files. The agent removes drafts at its start.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}.draft`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
