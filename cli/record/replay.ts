/** `ipledger replay FILE`: an export becomes a ledger again. */
import type { Command } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import type { Head } from '../../services/allocator/ledger/chain.ts';
import { replay } from '../../services/allocator/ledger/replay.ts';
import { verifyLines } from '../../services/allocator/verify/verify.ts';
import { Failure } from '../failure.ts';
import { untilInterrupted } from '../interrupt.ts';
import { addEtcd, etcdHelp, openEtcd, whyNoEtcd } from './etcd.ts';
import { linesOf } from './lines.ts';
import { showProgress } from './progress.ts';

interface Options {
  readonly etcd?: string;
  readonly resume?: true;
}

export function addReplay(program: Command): void {
  addEtcd(program.command('replay <export>').description('write an export, whole, into an empty ledger in etcd'))
    .option('--resume', 'go on with a ledger that an interrupted replay of this export began')
    .addHelpText(
      'after',
      `
${etcdHelp}
The export is verified first: of one that is not whole and unbroken nothing is written. The ledger is the same then, byte for
byte; start the allocators when it is done.`,
    )
    .action(async (file: string, { etcd, resume }: Options) => {
      if (etcd === undefined) throw new Failure('usage', 'into which ledger? Name its etcd by --etcd');
      if (file === '-')
        throw new Failure('usage', 'an export is read twice, and stdin can be read only once: name a file');
      const signal = untilInterrupted();
      try {
        await refuseBroken(file, signal);
        using opened = openEtcd(etcd);
        const head = await replay(opened.ledger, linesOf(file), {
          signal,
          ...(resume && { resume }),
          onProgress: showProgress,
        });
        showProgress(undefined);
        process.stdout.write(`${head.seq} events written, up to ${head.hash}\n`);
      } catch (error) {
        showProgress(undefined);
        throw whyNoEtcd(error, etcd);
      }
    });
}

async function refuseBroken(file: string, signal: AbortSignal): Promise<Head> {
  const { head, findings } = await verifyLines(linesOf(file), { signal, onProgress: showProgress });
  const [first] = findings;
  if (first)
    throw new IpledgerError('LEDGER_DAMAGED', `${file} is not whole, nothing is written: ${first.key}: ${first.what}`);
  if (head.seq === 0) throw new Failure('usage', `${file} is empty`);
  return head;
}
