/** `ipledger export`: prints the stored events byte by byte, one line each. */
import { once } from 'node:events';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { exportLines } from '../../ledger/log/reader/export.ts';
import { explainEtcdError, openEtcdLedger } from '../clients/etcd-ledger.ts';
import { openAllocatorClient } from '../clients/ledger-client.ts';
import { targetOf } from '../program/allocator-options.ts';
import { createInterruptSignal } from '../program/verb.ts';
import { addLedgerSourceOptions, etcdHelp, type LedgerSource } from '../program/ledger-source-options.ts';

interface ExportOptions extends LedgerSource {
  readonly from?: number;
  readonly to?: number;
}

export function defineExport(verb: Command): void {
  verb
    .addOption(new Option('--from <seq>', 'the first event; default: 1').argParser(parseSeq))
    .addOption(new Option('--to <seq>', 'the last event; default: the newest').argParser(parseSeq));
  addLedgerSourceOptions(verb)
    .addHelpText(
      'after',
      `
${etcdHelp}
The field "prev" of each line is the SHA-256 of the line before. \`ipledger verify --export FILE\` verifies an export, and
\`ipledger replay\` restores a ledger from it.`,
    )
    .action(async (options: ExportOptions) => {
      const signal = createInterruptSignal();
      for await (const lines of readLines(options, signal)) {
        const text = lines.map((line) => `${line}\n`).join('');
        if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
      }
      // An incomplete export must not exit with 0
      if (signal.aborted) throw new IpledgerError('CANCELLED', 'the export was cancelled before it was complete');
    });
}

async function* readLines(options: ExportOptions, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const { etcd, archive, from, to } = options;
  if (etcd === undefined) {
    using client = openAllocatorClient(targetOf(options), signal);
    for await (const { lines } of client.stream(LedgerService.export, { fromSeq: from, toSeq: to })) yield lines;
    return;
  }
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  using opened = openEtcdLedger(etcd, archive);
  try {
    for await (const { lines } of exportLines(opened.ledger, range, signal)) yield lines;
  } catch (error) {
    throw explainEtcdError(error, etcd);
  }
}

function parseSeq(text: string): number {
  const seq = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text) || !Number.isSafeInteger(seq))
    throw new InvalidArgumentError('It must be an event number, from 1.');
  return seq;
}
