/** `ipledger verify`: verifies the log and every other key of the ledger. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { IpledgerError, errorMessage } from '../../lib/errors.ts';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { type Checkpoint, parseReadableCheckpoints } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { parseVerifierKey, type VerifierKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { CheckpointVerifier } from '../../ledger/audit/verification/checkpoint-verifier.ts';
import type { Finding } from '../../ledger/audit/verification/finding.ts';
import {
  type VerificationResult,
  type VerifiedLedger,
  verifyLedger,
  verifyExport,
  type VerifyOptions,
} from '../../ledger/audit/verification/verify-ledger.ts';
import type { Seq } from '../../ledger/domain/values/ledger.ts';
import type { Head } from '../../ledger/log/chain/chain.ts';
import type { Ledger } from '../../ledger/log/store/ledger.ts';
import { openAllocatorClient } from '../clients/ledger-client.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { targetOf } from '../program/allocator-options.ts';
import { describeDifference, readLedgerTime } from '../time/ledger-time.ts';
import { createInterruptSignal } from '../program/verb.ts';
import { isRepairable, formatRepairCommand } from '../shell-command.ts';
import { type Answer, formatCount, type OutputFormat, outputFormats, printAnswer } from '../output/answer.ts';
import { textColumns, formatTable } from '../output/table.ts';
import { openEtcdLedger } from '../clients/etcd-ledger.ts';
import { startLedgerThread } from '../clients/ledger-thread.ts';
import { readExportLines } from '../export-file/read-lines.ts';
import { showProgress } from '../output/progress.ts';
import { addLedgerSourceOptions, etcdHelp, type LedgerSource } from '../program/ledger-source-options.ts';

interface Options extends LedgerSource {
  readonly output: OutputFormat;
  readonly export?: string;
  readonly checkpoint: string[];
  readonly verifierKey: string[];
}

/** The limit for checkpoints in a request to the allocator: they must fit into one message. */
const maxSentBytes = 1_000_000;
/** The length from which a thread pays: it starts while this many events are verified. */
const minEventsForThread = 20_000;

/** The result of a verification. An allocator returns only the position of the head. */
type Verdict = Omit<VerificationResult, 'head' | 'start'> & {
  /** The last event before the history, if older events were dropped. */
  readonly start?: Pick<Head, 'seq' | 'at'>;
  readonly head: Pick<VerificationResult['head'], 'epoch' | 'seq' | 'hash'>;
  /** Ledger time, if an allocator verified the log. */
  readonly ledgerTime?: string;
};

const columns = textColumns('KEY', 'FINDING');

/** The parser of a repeatable option. */
const collect = (value: string, previous: string[]): string[] => [...previous, value];

export function defineVerify(verb: Command): void {
  addLedgerSourceOptions(verb)
    .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats).default('table'))
    .option('--export <file>', 'verify an export instead of a ledger; - for stdin')
    .option('--checkpoint <file>', 'compare with all checkpoints of a file (repeatable)', collect, [])
    .option('--verifier-key <key>', 'a trusted verifier key, or a file with one (repeatable)', collect, [])
    .addHelpText(
      'after',
      `
${etcdHelp}
docs/audit.md explains what a verification proves.

Exit status:
  0  no findings
  ${exitStatus.disagreement}  findings: a line for each key, and the commands that repair keys other than the log
  ${exitStatus.notCompared}  the verification failed`,
    )
    .action(async (options: Options) => {
      try {
        const trusted = readTrustedCheckpoints(options);
        const verdict = await verify(options, trusted);
        assertNotEmpty(verdict, options);
        await printAnswer({ output: options.output, zone: 'local' }, createAnswer(verdict, trusted, options));
      } catch (error) {
        throw verificationFailed(error);
      }
    });
}

async function verify(options: Options, trusted: TrustedCheckpoints): Promise<Verdict> {
  const { etcd, export: file } = options;
  const signal = createInterruptSignal();
  try {
    if (file === undefined && etcd === undefined) return await verifyByAllocator(options, trusted, signal);
    const { checkpoints, verifierKeys } = trusted;
    const verifyOptions: VerifyOptions = {
      signal,
      onProgress: showProgress,
      ...(checkpoints.length > 0 && { checkpointVerifier: new CheckpointVerifier(checkpoints, verifierKeys) }),
    };
    if (file !== undefined) return await verifyExport(readExportLines(file), verifyOptions);
    using opened = openEtcdLedger(etcd ?? '', options.archive);
    const usesThread = availableParallelism() > 1 && (await isLong(opened.ledger, signal));
    using thread = usesThread ? startLedgerThread(etcd ?? '', options.archive) : undefined;
    const ledger: VerifiedLedger = opened.ledger;
    const droppedState = async (after: Seq, until: AbortSignal) => ledger.droppedState?.(after, until);
    return await verifyLedger(thread ? { ...thread.reader, droppedState } : ledger, verifyOptions);
  } finally {
    showProgress(undefined);
  }
}

/** Whether the log is long enough for a thread. The verification reports an unreadable head. */
async function isLong(ledger: Pick<Ledger, 'head'>, signal: AbortSignal): Promise<boolean> {
  try {
    return (await ledger.head(signal)).seq >= minEventsForThread;
  } catch {
    return false;
  }
}

/** Requests a verification by the allocator, and trusts its answer. */
async function verifyByAllocator(
  options: Options,
  { checkpoints, text, verifierKeys }: TrustedCheckpoints,
  signal: AbortSignal,
): Promise<Verdict> {
  if (Buffer.byteLength(text) > maxSentBytes)
    throw new CliError(
      'usage',
      `the checkpoints have more than ${maxSentBytes} bytes, the limit of the allocator: verify with --etcd, or pass the newest checkpoints only`,
    );
  using allocator = openAllocatorClient(targetOf(options), signal);
  const request =
    checkpoints.length > 0 ? { checkpoints: text, verifierKeys: verifierKeys.map((key) => key.text) } : {};
  for await (const reply of allocator.stream(LedgerService.verify, request)) {
    const { position = { epoch: 1, seq: 0, hash: '' }, done, comparedKeys, findings, droppedSeq, droppedUntil } = reply;
    showProgress(position);
    const start = droppedSeq !== undefined && { start: { seq: droppedSeq, at: Date.parse(droppedUntil ?? '') } };
    if (done) return { head: position, comparedKeys, findings, ...start, ledgerTime: await readLedgerTime(allocator) };
  }
  throw new IpledgerError('CANCELLED', 'the verification was cancelled before it was complete');
}

/** The checkpoints to compare with, and the keys that must have signed them. */
interface TrustedCheckpoints {
  readonly checkpoints: readonly Checkpoint[];
  /** The concatenated texts of the files. */
  readonly text: string;
  readonly verifierKeys: readonly VerifierKey[];
  /** Findings about files without a checkpoint, which another program may have emptied. */
  readonly findings: readonly Finding[];
}

function readTrustedCheckpoints({ checkpoint: files, verifierKey: keys }: Options): TrustedCheckpoints {
  if (files.length > 0 && keys.length === 0)
    throw new CliError('usage', 'a checkpoint proves nothing without a trusted key: name the key with --verifier-key');
  if (files.length === 0 && keys.length > 0)
    throw new CliError('usage', 'no checkpoint to verify with --verifier-key: name a file with --checkpoint');
  const verifierKeys = keys.map(readVerifierKey);
  const checkpoints: Checkpoint[] = [];
  const findings: Finding[] = [];
  const texts = files.map((file) => {
    const text = readText(file);
    const found = parseReadableCheckpoints(text);
    if (found.faults[0] !== undefined) throw new CliError('usage', `${file}, ${found.faults[0]}`);
    if (found.checkpoints.length === 0) findings.push({ key: file, what: withoutCheckpoint });
    for (const each of found.checkpoints) checkpoints.push(each);
    return text;
  });
  return { checkpoints, text: texts.join('\n'), verifierKeys, findings };
}

const withoutCheckpoint =
  'it contains no checkpoint, so that it proves nothing. If there were checkpoints, another program removed them';

/** Reads a key, or a file with it. A key contains "+<8 hexadecimal digits>+", unlike file names. */
function readVerifierKey(named: string): VerifierKey {
  if (/\+[0-9a-f]{8}\+/.test(named)) return parseVerifierKey(named);
  const text = readText(named);
  try {
    return parseVerifierKey(text);
  } catch (error) {
    throw new CliError('usage', `${named}: ${IpledgerError.from(error).message}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError('usage', `cannot read ${file}: ${errorMessage(error)}`);
  }
}

/** Rejects a ledger without an event: the location may be wrong, or all keys may be deleted. */
function assertNotEmpty({ head, findings }: Verdict, { export: file, etcd, allocator }: Options): void {
  if (head.seq > 0 || findings.length > 0) return;
  throw new CliError(
    'notCompared',
    `there is no event in ${file ?? etcd ?? allocator}: check that it is the location of the ledger`,
  );
}

function createAnswer(
  { head, start, comparedKeys, findings: found, ledgerTime = '' }: Verdict,
  { checkpoints, findings: ofFiles }: TrustedCheckpoints,
  { export: file }: Options,
): Answer {
  const findings = [...ofFiles, ...found];
  if (findings.length > 0) process.exitCode = exitStatus.disagreement;
  const listing = { columns, rows: findings.map(({ key, what }) => [key, what]) };
  const provenSeq = checkpoints.reduce((last, each) => Math.max(last, each.head.seq), 0);
  const verified = [
    start ? `events ${start.seq + 1} to ${head.seq}` : `${head.seq} events`,
    ...(comparedKeys === undefined ? [] : [`${comparedKeys} other keys`]),
    ...(provenSeq === 0 ? [] : [`${formatCount(checkpoints.length, 'checkpoint')} up to event ${provenSeq}`]),
  ].join(', ');
  const commands = found.filter(({ key }) => file === undefined && isRepairable(key)).map(formatRepairCommand);
  const repair = commands.length > 0 ? `\nrepair:\n${commands.map((each) => `  ${each}\n`).join('')}\n` : '';
  const result = findings.length === 0 ? 'no findings' : formatCount(findings.length, 'finding');
  const position = { epoch: head.epoch, seq: head.seq, hash: head.hash };
  return {
    content: {
      position,
      firstSeq: (start?.seq ?? 0) + 1,
      comparedKeys,
      checkpoints: { count: checkpoints.length, seq: provenSeq },
      findings,
    },
    table: (zone) =>
      `${findings.length > 0 ? formatTable(listing, zone) : ''}${repair}${verified} verified, up to ${head.hash || 'no event'}: ${result}\n`,
    listing: () => listing,
    note: [
      explainDropped(start),
      explainSkippedKeys(findings.length > 0 && comparedKeys === undefined && file === undefined),
      explainDifference(describeDifference(ledgerTime)),
    ]
      .flatMap((note) => note ?? [])
      .join('\n'),
  };
}

const explainDropped = (start: Verdict['start']): string | undefined =>
  start &&
  `the history begins with event ${start.seq + 1}, after ${new Date(start.at).toISOString()}: older events were dropped, so that the verification began with the state that was sealed there`;

const explainSkippedKeys = (isSkipped: boolean): string | undefined =>
  isSkipped ? 'the keys beside the log were not compared, because the log or the head has a finding' : undefined;

const explainDifference = (difference: string | undefined): string | undefined =>
  difference && `ledger time is ${difference} the clock here: see the runbook IpledgerLedgerTimeAhead`;

/** Gives a failed verification a status of its own, because status 1 means findings. */
function verificationFailed(thrown: unknown): unknown {
  const error = thrown instanceof CliError ? thrown : IpledgerError.from(thrown);
  if (error instanceof IpledgerError && error.code === 'CANCELLED') return error;
  return new CliError('notCompared', `the verification failed: ${error.message}`, { cause: thrown });
}
