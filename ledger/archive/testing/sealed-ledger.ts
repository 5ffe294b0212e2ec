/** Test support for the archive: a ledger with history, and a writer that can seal it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import {
  requestFor,
  bind,
  submitAll,
  createLedger,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
  type RunningWriter,
} from '../../log/testing/running-writer.ts';
import type { Archive } from '../archive.ts';
import { ArchivedLedger } from '../archived-ledger.ts';
import { FolderArchive } from '../folder-archive.ts';
import type { SealingContext } from '../seal.ts';

export interface SealedLedger {
  /** The keys of etcd. */
  readonly memory: MemoryLedger;
  readonly ledger: ArchivedLedger;
  readonly folder: string;
  readonly archive: Archive;
  readonly working: RunningWriter;
  readonly sealing: SealingContext;
}

export const createArchiveFolder = (): string => mkdtempSync(join(tmpdir(), 'ipledger-archive-'));

/** A ledger of 3 + 6 × `pods` events, with a writer that can seal it. */
export async function ledgerWithPast(pods: number): Promise<SealedLedger> {
  const folder = createArchiveFolder();
  return { ...(await ledgerWithPastIn(new FolderArchive(folder), pods)), folder };
}

/** The same ledger with another archive. */
export async function ledgerWithPastIn<Kind extends Archive>(
  archive: Kind,
  pods: number,
): Promise<Omit<SealedLedger, 'folder'> & { readonly archive: Kind }> {
  const memory = new MemoryLedger({ ops: 128, bytes: 1 << 20 }, 50);
  const ledger = new ArchivedLedger(memory, archive);
  const working = await startWriter(ledger);
  await submitAll(working.writer, createLedger(), macvlan, small);
  for (let index = 0; index < pods; index++) await runPodLife(working, `pod-${index}`);
  return { memory, ledger, archive, working, sealing: sealingContextOf({ working, ledger, archive }) };
}

/** The life of a Pod that is created twice: six events. */
export async function runPodLife({ writer }: RunningWriter, pod: string): Promise<void> {
  const first = `uid-${pod}-1`;
  await submitAll(writer, allocate(pod, {}, { uid: first }), bind(pod, undefined, undefined, first), unbind(pod));
  await submitAll(writer, release(pod, first), allocate(pod), bind(pod));
}

/** The sealing context of this writer for an archive. */
export const sealingContextOf = ({
  working,
  ledger,
  archive,
}: Pick<SealedLedger, 'working' | 'ledger' | 'archive'>): SealingContext => ({
  ledger,
  archive,
  canOmitEndState: () => true,
  submit: async (segment) => {
    await working.writer.submit({ ...requestFor({ type: 'SealSegment', segment }, never), answer: () => undefined });
  },
});
