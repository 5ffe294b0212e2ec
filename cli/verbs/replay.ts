/** `ipledger replay FILE`: restores a ledger from an export. */
import type { Command } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import type { Head } from '../../ledger/log/chain/chain.ts';
import { replay } from '../../ledger/log/reader/replay.ts';
import { verifyExport } from '../../ledger/audit/verification/verify-ledger.ts';
import { explainEtcdError, openEtcdLedger } from '../clients/etcd-ledger.ts';
import { readExportLines } from '../export-file/read-lines.ts';
import { showProgress } from '../output/progress.ts';
import { CliError } from '../cli-error.ts';
import { createInterruptSignal } from '../program/verb.ts';
import { addEtcdOption, etcdHelp } from '../program/ledger-source-options.ts';

interface ReplayOptions {
  readonly etcd?: string;
  readonly resume?: true;
}

export function defineReplay(verb: Command): void {
  addEtcdOption(verb)
    .option('--resume', 'continue an interrupted replay of the same export')
    .addHelpText(
      'after',
      `
${etcdHelp}
The export is verified first. An incomplete or damaged export is rejected, and nothing is written. The new ledger equals the old
one byte for byte. Start the allocators after the replay.`,
    )
    .action(async (file: string, { etcd, resume }: ReplayOptions) => {
      if (etcd === undefined) throw new CliError('usage', 'no ledger to write into: name its etcd with --etcd');
      if (file === '-') throw new CliError('usage', 'stdin cannot be read twice, as a replay requires: name a file');
      const signal = createInterruptSignal();
      try {
        await assertValidExport(file, signal);
        using opened = openEtcdLedger(etcd);
        const head = await replay(opened.ledger, readExportLines(file), {
          signal,
          ...(resume && { resume }),
          onProgress: showProgress,
        });
        showProgress(undefined);
        process.stdout.write(`${head.seq} events written, up to ${head.hash}\n`);
      } catch (error) {
        showProgress(undefined);
        throw explainEtcdError(error, etcd);
      }
    });
}

async function assertValidExport(file: string, signal: AbortSignal): Promise<Head> {
  const { head, findings } = await verifyExport(readExportLines(file), { signal, onProgress: showProgress });
  const [first] = findings;
  if (first)
    throw new IpledgerError('LEDGER_DAMAGED', `${file} is damaged: ${first.key}: ${first.what}; nothing was written`);
  if (head.seq === 0) throw new CliError('usage', `${file} is empty`);
  return head;
}
