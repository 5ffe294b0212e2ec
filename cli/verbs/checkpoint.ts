/** `ipledger checkpoint`: prints a signed checkpoint of the ledger. */
import type { Command } from 'commander';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { textColumns } from '../output/table.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

const columns = textColumns('EPOCH', 'SEQ', 'HASH', 'VERIFIER KEY', 'NOTE');

export function defineCheckpoint(verb: Command): void {
  addVerbOptions(verb).action((options: VerbOptions) =>
    runAndPrint(options, async (allocator) => {
      const reply = await allocator.call(LedgerService.checkpoint, {});
      const { position, note, verifierKey } = reply;
      const row = [position?.epoch, position?.seq, position?.hash, verifierKey, note].map((cell) => String(cell ?? ''));
      return { content: reply, table: () => note, listing: () => ({ columns, rows: [row] }) };
    }),
  );
}
