/** `ipledger checkpoint` prints a signed checkpoint, `ipledger checkpoint-key` makes the keys. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { generateKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { CliError } from '../cli-error.ts';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { textColumns } from '../output/table.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

export function defineCheckpointKey(verb: Command): void {
  verb
    .option('--name <name>', 'the name of the key, as example.com/ipledger', 'ipledger')
    .action((file: string, { name }: { name: string }) => {
      // The old key must sign the rotation to the new one: never overwrite it
      for (const each of [file, `${file}.pub`])
        if (existsSync(each)) throw new CliError('usage', `${each} exists already: name another file`);
      const { signer, verifier } = generateKey(name);
      writeFileSync(file, `${signer}\n`, { mode: 0o600, flag: 'wx' });
      chmodSync(file, 0o600);
      writeFileSync(`${file}.pub`, `${verifier}\n`, { flag: 'wx' });
      process.stdout.write(`${verifier}\n`);
    });
}

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
