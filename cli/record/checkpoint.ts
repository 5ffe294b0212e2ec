/** `ipledger checkpoint` and `ipledger checkpoint-key`: the ledger signed now, and what it is signed with. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { LedgerService } from '../../proto/ipledger.ts';
import { generateKey } from '../../services/allocator/checkpoint/key.ts';
import { Failure } from '../failure.ts';
import { columnsOf } from '../table.ts';
import { addVerb, answer, type VerbOptions } from '../verb.ts';

const columns = columnsOf('EPOCH', 'SEQ', 'HASH', 'VERIFIER KEY', 'NOTE');

export function addCheckpoint(program: Command): void {
  addVerb(
    program,
    'checkpoint',
    'the ledger as it is now, signed: keep it where nobody can write who can write to etcd',
  ).action((options: VerbOptions) =>
    answer(options, async (allocator) => {
      const reply = await allocator.ask(LedgerService.checkpoint, {});
      const { position, note, verifierKey } = reply;
      const row = [position?.epoch, position?.seq, position?.hash, verifierKey, note].map((cell) => String(cell ?? ''));
      return { content: reply, table: () => note, listing: () => ({ columns, rows: [row] }) };
    }),
  );
}

export function addCheckpointKey(program: Command): void {
  program
    .command('checkpoint-key <file>')
    .description('make a key for checkpoints: FILE for the allocators, FILE.pub for everybody who verifies')
    .option('--name <name>', 'what the key is known by, as example.com/ipledger', 'ipledger')
    .action((file: string, { name }: { name: string }) => {
      // A key that is overwritten cannot vouch for its successor any more.
      for (const each of [file, `${file}.pub`])
        if (existsSync(each)) throw new Failure('usage', `${each} is there already: name another file`);
      const { signer, verifier } = generateKey(name);
      writeFileSync(file, `${signer}\n`, { mode: 0o600, flag: 'wx' });
      chmodSync(file, 0o600);
      writeFileSync(`${file}.pub`, `${verifier}\n`, { flag: 'wx' });
      process.stdout.write(`${verifier}\n`);
    });
}
