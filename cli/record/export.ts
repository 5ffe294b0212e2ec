/** `ipledger export`: the events as they are stored, a line each, byte by byte. */
import { once } from 'node:events';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { LedgerService } from '../../proto/ipledger.ts';
import { exportLines } from '../../services/allocator/ledger/export.ts';
import { openAllocator } from '../allocator.ts';
import { untilInterrupted } from '../interrupt.ts';
import { addSource, etcdHelp, openEtcd, type Source, whyNoEtcd } from './etcd.ts';

interface Options extends Source {
  readonly from?: number;
  readonly to?: number;
}

export function addExport(program: Command): void {
  const verb = program
    .command('export')
    .description('the events as they are stored, a line of JSON each, on stdout')
    .addOption(new Option('--from <seq>', 'the first one; else the ledger’s first').argParser(parseSeq))
    .addOption(new Option('--to <seq>', 'the last one; else the present last').argParser(parseSeq));
  addSource(verb)
    .addHelpText(
      'after',
      `
${etcdHelp}
The SHA-256 of each line is what the next one names as "prev". ipledger verify --file checks that, and ipledger replay makes a
ledger of it.`,
    )
    .action(async (options: Options) => {
      const signal = untilInterrupted();
      for await (const lines of linesFrom(options, signal)) {
        const text = lines.map((line) => `${line}\n`).join('');
        if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
      }
      // A stretch that was broken off must not end like one that is whole
      if (signal.aborted) throw new IpledgerError('CANCELLED', 'the export was ended before it was whole');
    });
}

async function* linesFrom(
  { etcd, archive, allocator, from, to }: Options,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  if (etcd === undefined) {
    using asked = openAllocator(allocator, signal);
    for await (const { lines } of asked.listen(LedgerService.export, { fromSeq: from, toSeq: to })) yield lines;
    return;
  }
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  using opened = openEtcd(etcd, archive);
  try {
    for await (const { lines } of exportLines(opened.ledger, range, signal)) yield lines;
  } catch (error) {
    throw whyNoEtcd(error, etcd);
  }
}

function parseSeq(text: string): number {
  const seq = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(seq))
    throw new InvalidArgumentError('It is the number of an event.');
  return seq;
}
