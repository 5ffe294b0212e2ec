/** Test support for verification: ledgers that a writer filled, and their verification. */
import { IpledgerError } from '../../../lib/errors.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
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
} from '../../log/testing/running-writer.ts';
import { type VerificationResult, verifyLedger } from '../verification/verify-ledger.ts';

/** A ledger after these commands. Some of them may be refused. */
export async function ledgerOf(...commands: readonly Untimed[]): Promise<MemoryLedger> {
  const memory = new MemoryLedger(undefined, 3);
  const working = await startWriter(memory);
  await submitAll(working.writer, createLedger(), macvlan, small);
  for (const command of commands)
    await working.writer.submit(requestFor(command)).catch((error: unknown) => {
      if (IpledgerError.from(error).kind === 'bug') throw error;
    });
  await working.stop();
  return memory;
}

export const verify = (ledger: MemoryLedger): Promise<VerificationResult> => verifyLedger(ledger, { signal: never });

/** Commands of several kinds, which append 9 events. */
export const story = [allocate('a'), bind('a'), allocate('b'), release('a'), unbind('a'), allocate('c')];

/** Verifies the ledger of `story` after another program edited it. */
export async function verifyEdited(edit: (ledger: MemoryLedger) => void): Promise<VerificationResult> {
  const ledger = await ledgerOf(...story);
  edit(ledger);
  return await verify(ledger);
}
