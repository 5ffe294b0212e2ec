/** `ipledger verify`: is the ledger as ipledger wrote it? */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { LedgerService } from '../../proto/ipledger.ts';
import { parseCheckpoints, readCheckpoints } from '../../services/allocator/checkpoint/checkpoint.ts';
import { parseVerifierKey } from '../../services/allocator/checkpoint/key.ts';
import { Attested } from '../../services/allocator/verify/attested.ts';
import {
  type Verdict as Found,
  verifyKeys,
  verifyLines,
  type VerifyOptions,
} from '../../services/allocator/verify/verify.ts';
import { openAllocator } from '../allocator.ts';
import { exitStatus, Failure } from '../failure.ts';
import { untilInterrupted } from '../interrupt.ts';
import { isMended, mendingOf } from '../mending.ts';
import { type Answer, type OutputFormat, outputFormats, print } from '../output.ts';
import { columnsOf, tableOf } from '../table.ts';
import { addSource, etcdHelp, openEtcd, type Source } from './etcd.ts';
import { linesOf } from './lines.ts';
import { showProgress } from './progress.ts';

interface Options extends Source {
  readonly output: OutputFormat;
  readonly file?: string;
  readonly checkpoint: string[];
  readonly key: string[];
}

/** Of checkpoints: the whole request has to fit into a message. */
const mostSentBytes = 1_000_000;

/** As `verifyKeys` gives it; but of the head an allocator tells only the position. */
type Verdict = Omit<Found, 'head'> & { readonly head: Pick<Found['head'], 'epoch' | 'seq' | 'hash'> };

const columns = columnsOf('KEY', 'WHAT IS WRONG');

const each = (value: string, before: string[]): string[] => [...before, value];

export function addVerify(program: Command): void {
  const verb = program
    .command('verify')
    .description('whether the ledger is as ipledger wrote it: the log, and every other key against it');
  addSource(verb)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(outputFormats).default('table'))
    .addOption(new Option('--file <export>', 'an export of it instead; - for stdin'))
    .option('--checkpoint <file>', 'hold it to all checkpoints of a file (repeatable)', each, [])
    .option('--key <key>', 'whose checkpoints are believed: a verifier key, or a file with one (repeatable)', each, [])
    .addHelpText(
      'after',
      `
${etcdHelp}
What it proves, and what nothing can, is told in docs/audit.md.

Exit status:
  0  nothing is wrong
  ${exitStatus.disagreement}  something is: each line names a key and says what, and behind them is what mends those that are not the log
  ${exitStatus.notCompared}  it could not be verified`,
    )
    .action(async (options: Options) => {
      try {
        const verdict = await verify(options);
        refuseNothing(verdict, options);
        print({ output: options.output, zone: 'local' }, told(verdict, options));
      } catch (error) {
        throw notVerified(error);
      }
    });
}

async function verify(options: Options): Promise<Verdict> {
  const { etcd, file } = options;
  const held = readHeld(options);
  const signal = untilInterrupted();
  try {
    if (file === undefined && etcd === undefined) return await verifyThere(options.allocator, held, signal);
    const attested = held && new Attested(parseCheckpoints(held.checkpoints), held.verifierKeys.map(parseVerifierKey));
    const asked: VerifyOptions = { signal, onProgress: showProgress, ...(attested && { attested }) };
    if (file !== undefined) return await verifyLines(linesOf(file), asked);
    using opened = openEtcd(etcd ?? '', options.archive);
    return await verifyKeys(opened.ledger, asked);
  } finally {
    showProgress(undefined);
  }
}

/** Has the allocator verify, and believes what it says. */
async function verifyThere(endpoint: string, held: Held | undefined, signal: AbortSignal): Promise<Verdict> {
  if (held && Buffer.byteLength(held.checkpoints) > mostSentBytes)
    throw new Failure(
      'usage',
      `an allocator takes checkpoints of at most ${mostSentBytes} bytes, and these are more: name etcd by --etcd, or the last ones only`,
    );
  using allocator = openAllocator(endpoint, signal);
  for await (const reply of allocator.listen(LedgerService.verify, { ...held })) {
    const { position = { epoch: 1, seq: 0, hash: '' }, done, keys, findings } = reply;
    showProgress(position);
    if (done) return { head: position, keys, findings };
  }
  throw new IpledgerError('CANCELLED', 'ended before it was verified');
}

/** What the ledger is held to. */
interface Held {
  /** One behind the other. */
  readonly checkpoints: string;
  readonly verifierKeys: readonly string[];
}

function readHeld({ checkpoint: files, key: keys }: Options): Held | undefined {
  if (files.length === 0) return undefined;
  if (keys.length === 0)
    throw new Failure('usage', 'a checkpoint proves nothing unless it is known who signed it: name the key by --key');
  // A key always has "+<8 digits>+" in it, and hardly any file's name has.
  const verifierKeys = keys.map((key) => (/\+[0-9a-f]{8}\+/.test(key) ? key : contentOf(key).trim()));
  const checkpoints = files.map((file) => {
    const text = contentOf(file);
    const [fault] = readCheckpoints(text).faults;
    if (fault !== undefined) throw new Failure('usage', `${file}, ${fault}`);
    return text;
  });
  return { checkpoints: checkpoints.join('\n'), verifierKeys };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure('usage', `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Without a single event nothing is wrong and nothing is proven: it may be the wrong place, or all was deleted. */
function refuseNothing({ head, findings }: Verdict, { file, etcd, allocator }: Options): void {
  if (head.seq > 0 || findings.length > 0) return;
  throw new Failure('notCompared', `there is no ledger in ${file ?? etcd ?? allocator}: it has not one event`);
}

function told({ head, keys, findings }: Verdict, { file, checkpoint }: Options): Answer {
  if (findings.length > 0) process.exitCode = exitStatus.disagreement;
  const listing = { columns, rows: findings.map(({ key, what }) => [key, what]) };
  const counted = [
    `${head.seq} events`,
    ...(keys === undefined ? [] : [`${keys} other keys`]),
    ...(checkpoint.length === 0 ? [] : ['checkpoints']),
  ].join(', ');
  const commands = findings.filter(({ key }) => file === undefined && isMended(key)).map(mendingOf);
  const mending =
    commands.length > 0 ? `\nwhat puts them right:\n${commands.map((each) => `  ${each}\n`).join('')}\n` : '';
  const result = findings.length === 0 ? 'nothing is wrong' : `${findings.length} wrong`;
  const position = { epoch: head.epoch, seq: head.seq, hash: head.hash };
  return {
    content: { position, keys, findings },
    table: (zone) =>
      `${findings.length > 0 ? tableOf(listing, zone) : ''}${mending}${counted} verified, up to ${head.hash || 'no event'}: ${result}\n`,
    listing: () => listing,
    note: noteOn(findings.length > 0 && keys === undefined && file === undefined),
  };
}

const noteOn = (stopped: boolean): string | undefined =>
  stopped ? 'the keys beside the log were not compared: there is no whole log to compare them with' : undefined;

/** Exit status 1 says that something is wrong with the ledger: a failure to verify it must not look like that. */
function notVerified(thrown: unknown): unknown {
  const error = thrown instanceof Failure ? thrown : IpledgerError.from(thrown);
  if (error instanceof IpledgerError && error.code === 'CANCELLED') return error;
  return new Failure('notCompared', `could not verify: ${error.message}`, { cause: thrown });
}
