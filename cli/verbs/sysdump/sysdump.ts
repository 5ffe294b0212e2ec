/** `ipledger sysdump`: writes a support bundle, without secrets. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Command, Option } from 'commander';
import { errorMessage } from '../../../lib/errors.ts';
import { asText, tryParseJson } from '../../../lib/kubernetes/untyped-json.ts';
import { parseWholeNumber } from '../../../lib/process/options.ts';
import { formatTar, tarFile } from '../../../lib/tar/format-tar.ts';
import { factsFile } from '../../bundle/read-bundle.ts';
import { cleanJson, cleanLines, createNameHash, redact } from '../../bundle/redact.ts';
import { CliError, exitStatus } from '../../cli-error.ts';
import { connectOwnObjects, hasKubeconfig } from '../../clients/kubernetes-client.ts';
import type { Facts } from '../../installation/facts.ts';
import { gatherFacts } from '../../installation/gather-facts.ts';
import { createTableAnswer, printAnswer } from '../../output/answer.ts';
import { textColumns } from '../../output/table.ts';
import { addFactOptions, type FactOptions, factSourcesOf } from '../../program/fact-options.ts';
import { outputStyle, withAllocator } from '../../program/verb.ts';
import { type BundleFile, collect, type Collected } from './collect.ts';

interface SysdumpOptions extends FactOptions {
  readonly file?: string;
  readonly logLines: number;
  readonly events: number;
  readonly hashNames: boolean;
}

export function defineSysdump(verb: Command): void {
  addFactOptions(verb)
    .option('--file <file>', 'the file to write; default: ipledger-sysdump-TIME.tar.gz')
    .addOption(countOption('--log-lines <count>', 'newest lines of each log; 0: no logs', 2_000))
    .addOption(countOption('--events <count>', 'newest events of the ledger; 0: none', 1_000))
    .option('--hash-names', 'replace names of Pods, namespaces, nodes and networks by hashes', false)
    .addHelpText(
      'after',
      `
The bundle has the facts that ipledger doctor judges, the status of the ledger, Subnets, IPPools, networks, the network annotations of Pods,
the status of ipledger's own Pods, Events, the logs of each container, also of etcd, and the newest events of the ledger. It has no Secret, and what looks like a token, a password or a private key is removed.
Addresses and MACs stay, and without --hash-names also names. In logs, --hash-names replaces the names that another part of the bundle shows. A part that cannot be read is named in problems.json. Then:
  ipledger doctor --bundle FILE

Exit status:
  0  the bundle has all parts
  ${exitStatus.notCompared}  the bundle is written, and a part could not be read, or is cut`,
    )
    .action(async (options: SysdumpOptions) =>
      withAllocator(options, async (allocator, signal) => {
        const facts = await gatherFacts(factSourcesOf(options, allocator, signal));
        const mayRead = !options.skip.includes('kubernetes') && hasKubeconfig(process.env, options);
        const connectKubernetes = mayRead ? () => connectOwnObjects(signal, options) : undefined;
        const { logLines, events: ledgerEvents } = options;
        const collected = await collect({ facts, allocator, connectKubernetes, logLines, ledgerEvents, signal });
        const file = options.file ?? `ipledger-sysdump-${facts.gatheredAt.replaceAll(/[:.]/g, '-')}.tar.gz`;
        await writeBundle(file, formatBundle(collected, options.hashNames), facts.gatheredAt);
        const { files, problems } = collected;
        const rows = problems.map(({ part, reason }) => [part, reason]);
        const note = `${file}: ${files.length + 1} files${problems.length === 0 ? '' : `, ${problems.length} problems`}. Read it before you send it.`;
        const answer = createTableAnswer(
          { columns: textColumns('PART', 'PROBLEM'), rows },
          { content: { file, problems }, note },
        );
        if (problems.length > 0) process.exitCode = exitStatus.notCompared;
        await printAnswer(outputStyle(options), answer);
      }),
    );
}

const countOption = (flags: string, description: string, count: number): Option =>
  new Option(flags, description).default(count).argParser((text) => parseWholeNumber(text, 0, 99_999));

/** Texts without secrets, by path. @param hashNames also without names */
function formatBundle({ files, problems }: Collected, hashNames: boolean): Map<string, string> {
  const hash = hashNames ? createNameHash(namesIn(files)) : (text: string): string => text;
  const clean = (text: string): string => hash(redact(text));
  const all = [...files, { path: 'problems.json', content: problems }];
  return new Map(
    all.map(({ path, content }) => [
      clean(path),
      typeof content === 'string' ? cleanLines(content, clean) : JSON.stringify(cleanJson(content, clean), null, 2),
    ]),
  );
}

/** The names that the files show: of Pods, namespaces, nodes, networks, Subnets and programs. */
function* namesIn(files: readonly BundleFile[]): Generator<string> {
  for (const { path, content } of files) {
    if (path === factsFile) yield* namesInFacts(content as Facts);
    else if (typeof content === 'object') yield* namesOf(content);
    else for (const line of content.split('\n')) yield* namesOf(tryParseJson(line));
  }
}

/**
 * Yields the names in the facts to hash. Names of metrics and definitions are left out: they are
 * the same on every cluster.
 */
function* namesInFacts({ networks, subnets, programs, pods, sandboxFailures, comparison }: Facts): Generator<string> {
  yield* namesOf([subnets, [...(programs ?? []), ...(pods ?? [])].map(({ name, node }) => ({ name, node }))]);
  for (const { key } of networks ?? []) yield key;
  yield* namesOf(sandboxFailures);
  for (const { where } of comparison?.disagreements ?? []) yield /^(?:Pod|Node|IP|Vip) (\S+)/.exec(where)?.[1] ?? '';
}

const nameFields = new Set(['name', 'namespace', 'pod', 'podName', 'node', 'subnet', 'provider', 'network']);

function* namesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, each] of Object.entries(value))
    if (typeof each === 'object') yield* namesOf(each);
    else if (nameFields.has(field)) yield asText(each);
}

/** Writes to another name until the bundle is complete, so that no part is taken for a bundle. */
async function writeBundle(file: string, texts: ReadonlyMap<string, string>, gatheredAt: string): Promise<void> {
  const entries = [...texts].map(([path, text]) => tarFile(path, text));
  const bytes = await promisify(gzip)(formatTar(entries, Math.floor(Date.parse(gatheredAt) / 1_000)));
  const draft = `${file}.partial`;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, bytes, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError('usage', `${file} cannot be written: ${errorMessage(error)}`, { cause: error });
  }
}
