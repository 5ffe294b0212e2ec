/** `ipledger verify`: is the ledger as ipledger wrote it? */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { parseCheckpoints } from '../../services/allocator/checkpoint/checkpoint.ts';
import { parseVerifierKey } from '../../services/allocator/checkpoint/key.ts';
import type { Head } from '../../services/allocator/ledger/chain.ts';
import { Attested } from '../../services/allocator/verify/attested.ts';
import { type Verdict, verifyKeys, verifyLines, type VerifyOptions } from '../../services/allocator/verify/verify.ts';
import { exitStatus, Failure } from '../failure.ts';
import { type Answer, type OutputFormat, outputFormats, print } from '../output.ts';
import { table } from '../table.ts';
import { etcdHelp, withEtcd } from './etcd.ts';
import { linesOf } from './lines.ts';

interface Options {
  readonly output: OutputFormat;
  readonly etcd?: string;
  readonly file?: string;
  readonly checkpoint: string[];
  readonly key: string[];
}

const each = (value: string, before: string[]): string[] => [...before, value];

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('whether the ledger is as ipledger wrote it: the log, and every other key against it')
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(outputFormats).default('table'))
    .addOption(
      new Option('--etcd <urls>', 'the ledger in etcd, http(s)://host:port joined with commas').env('IPLEDGER_ETCD'),
    )
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
  ${exitStatus.disagreement}  something is: each line names a key and says what
  ${exitStatus.notCompared}  it could not be verified`,
    )
    .action(async (options: Options) => {
      try {
        print(options.output, told(await verify(options), options));
      } catch (error) {
        throw notVerified(error);
      }
    });
}

async function verify({ etcd, file, checkpoint, key }: Options): Promise<Verdict> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const attested = attestedBy(checkpoint, key);
  const asked: VerifyOptions = { signal: interrupted.signal, onProgress: progress, ...(attested && { attested }) };
  try {
    if (file !== undefined) return await verifyLines(linesOf(file), asked);
    if (etcd === undefined) throw new Failure('usage', 'which ledger? Name it by --etcd or --file');
    return await withEtcd(etcd, (ledger) => verifyKeys(ledger, asked));
  } finally {
    progress(undefined);
  }
}

function attestedBy(files: readonly string[], keys: readonly string[]): Attested | undefined {
  if (files.length === 0) return undefined;
  if (keys.length === 0)
    throw new Failure('usage', 'a checkpoint proves nothing unless it is known who signed it: name the key by --key');
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw new Failure('usage', `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const checkpoints = files.flatMap((file) => parseCheckpoints(read(file)));
  // A file's name has no "+<8 digits>+" in it; a key always has.
  const verifiers = keys.map((key) => parseVerifierKey(/\+[0-9a-f]{8}\+/.test(key) ? key : read(key)));
  return new Attested(checkpoints, verifiers);
}

/** A person who waits sees how far it is; a script does not. */
function progress(head: Head | undefined): void {
  if (process.stderr.isTTY) process.stderr.write(head ? `\r${head.seq} events` : '\r\u001b[K');
}

function told({ head, keys, findings }: Verdict, { file, checkpoint }: Options): Answer {
  if (findings.length > 0) process.exitCode = exitStatus.disagreement;
  const rows = findings.map(({ key, what }) => [key, what]);
  const counted = [
    `${head.seq} events`,
    ...(keys === undefined ? [] : [`${keys} other keys`]),
    ...(checkpoint.length === 0 ? [] : ['checkpoints']),
  ].join(', ');
  const result = findings.length === 0 ? 'nothing is wrong' : `${findings.length} wrong`;
  const position = { epoch: head.epoch, seq: head.seq, hash: head.hash };
  return {
    content: { ledger: head.ledger, position, at: new Date(head.at).toISOString(), keys, findings },
    table: () =>
      `${rows.length > 0 ? table(['KEY', 'WHAT IS WRONG'], rows) : ''}${counted} verified, up to ${head.hash || 'no event'}: ${result}\n`,
    note: noteOn(findings.length > 0 && keys === undefined && file === undefined),
  };
}

const noteOn = (stopped: boolean): string | undefined =>
  stopped ? 'the keys beside the log were not compared: there is no whole log to compare them with' : undefined;

/** 1 says that something is wrong with the ledger: nothing that went wrong here may look like that. */
function notVerified(thrown: unknown): unknown {
  const error = thrown instanceof Failure ? thrown : IpledgerError.from(thrown);
  if (error instanceof IpledgerError && error.code === 'CANCELLED') return error;
  return new Failure('notCompared', `could not verify: ${error.message}`, { cause: thrown });
}
