/** What the specs of the archive are written with: a ledger with a past, sealed by its own writer. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allocate } from '../domain/specification.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import {
  ask,
  bind,
  carryOut,
  createLedger,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
  type Working,
} from '../ledger/specification.ts';
import type { Archive } from './archive.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { FolderArchive } from './folder.ts';
import type { Sealing } from './seal.ts';

export interface Past {
  /** What etcd would hold. */
  readonly memory: MemoryLedger;
  readonly ledger: ArchivedLedger;
  readonly folder: string;
  readonly archive: Archive;
  readonly working: Working;
  readonly sealing: Sealing;
}

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'ipledger-archive-'));

/** A ledger of 3 + 6 × `pods` events, each Pod with a life of its own, whose past a writer can seal. */
export async function ledgerWithPast(pods: number): Promise<Past> {
  const memory = new MemoryLedger({ ops: 128, bytes: 1 << 20 }, 50);
  const folder = newFolder();
  const archive = new FolderArchive(folder);
  const ledger = new ArchivedLedger(memory, archive);
  const working = await startWriter(ledger);
  await carryOut(working.writer, createLedger(), macvlan, small);
  for (let index = 0; index < pods; index++) await live(working, `pod-${index}`);
  return { memory, ledger, folder, archive, working, sealing: sealingBy({ working, ledger, archive }) };
}

/** A Pod comes and goes, and comes back: six events. */
export async function live({ writer }: Working, pod: string): Promise<void> {
  await carryOut(writer, allocate(pod), bind(pod), unbind(pod), release(pod), allocate(pod), bind(pod));
}

/** How this writer seals into an archive. */
export const sealingBy = ({ working, ledger, archive }: Pick<Past, 'working' | 'ledger' | 'archive'>): Sealing => ({
  ledger,
  archive,
  submit: async (segment) => {
    await working.writer.submit({ ...ask({ type: 'SealSegment', segment }, never), answer: () => undefined });
  },
});
