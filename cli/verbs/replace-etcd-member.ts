/** `ipledger replace-etcd-member`: removes an etcd member without data, and adds it again. */
import type { Command } from 'commander';
import { errorMessage } from '../../lib/errors.ts';
import { pause } from '../../lib/process/abortable.ts';
import { createLogger } from '../../lib/process/log.ts';
import { type EtcdAccess, etcdAccessFromEnvironment } from '../../ledger/log/store/etcd-access.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { CliError, orUsageError } from '../cli-error.ts';
import { confirm } from '../program/operation-verb.ts';
import { createInterruptSignal } from '../program/verb.ts';
import { addEtcdOption, etcdHelp } from '../program/ledger-source-options.ts';

const settleMs = 30_000;
const pollMs = 500;

interface ReplaceOptions {
  readonly etcd?: string;
  readonly yes: boolean;
}

/** A member in etcd's list. Until it has started it has no name and no client URL. */
interface Member {
  readonly ID: string;
  readonly name: string;
  readonly peerURLs: readonly string[];
  readonly clientURLs: readonly string[];
}

export function defineReplaceEtcdMember(verb: Command): void {
  addEtcdOption(verb)
    .option('-y, --yes', 'do not request confirmation', false)
    .addHelpText(
      'after',
      `
${etcdHelp}
The certificate is that of etcd's root user. It refuses while the member answers, and while the other members have no quorum. Repeat it
after an interruption. Then start the member with an empty folder and --initial-cluster-state=existing.`,
    )
    .action(async (peerUrl: string, { etcd, yes }: ReplaceOptions) => {
      if (etcd === undefined) throw new CliError('usage', 'no etcd: name its endpoints with --etcd');
      const signal = createInterruptSignal();
      process.stdout.write(`${await replaceMember(peerUrl, { etcd, yes }, signal)}\n`);
    });
}

async function replaceMember(
  peerUrl: string,
  { etcd, yes }: Required<ReplaceOptions>,
  signal: AbortSignal,
): Promise<string> {
  const access = readAccess();
  const { endpoint, members } = await findMembers(etcd.split(','), access);
  const target = members.find(({ peerURLs }) => peerURLs.includes(peerUrl));
  if (target?.name === '') return `the member at ${peerUrl} is already replaced: start it with an empty folder`;
  const others = members.filter((member) => member !== target);
  const answering = await Promise.all(others.map(({ clientURLs }) => answers(clientURLs[0], access)));
  // A missing target was removed by an earlier run
  const quorum = Math.floor((others.length + 1) / 2) + 1;
  if (answering.filter(Boolean).length < quorum)
    throw new CliError(
      'refused',
      `fewer than ${quorum} members of etcd besides ${peerUrl} answer, so the ledger could be lost: start them first, or restore a backup`,
    );
  if (await answers(target?.clientURLs[0], access))
    throw new CliError('refused', `the member at ${peerUrl} answers, so it has its data: nothing was changed`);
  const lines = [`the member at ${peerUrl} will be removed from etcd, and added without data`];
  await confirm({ lines, question: 'Replace it?', yes }, signal);
  const client = connectEtcd([endpoint], access);
  try {
    if (target) await changeMembers(() => client.cluster.memberRemove({ ID: target.ID }), signal);
    await changeMembers(() => client.cluster.memberAdd({ peerURLs: [peerUrl] }), signal);
  } finally {
    client.close();
  }
  return `the member at ${peerUrl} is replaced: start it with an empty folder`;
}

/** etcd refuses changes until its members have been connected for some seconds. @throws CliError */
async function changeMembers(change: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + settleMs; ; await pause(pollMs, signal)) {
    signal.throwIfAborted();
    try {
      await change();
      return;
    } catch (error) {
      const reason = errorMessage(error);
      if (!reason.includes('unhealthy cluster') || performance.now() > until)
        throw new CliError('refused', `etcd does not replace the member: ${reason}; run the command again`, {
          cause: error,
        });
    }
  }
}

const readAccess = (): EtcdAccess =>
  orUsageError(() => etcdAccessFromEnvironment(process.env, createLogger('ipledger')));

/** Reads the members from the first endpoint that answers. */
async function findMembers(
  endpoints: readonly string[],
  access: EtcdAccess,
): Promise<{ endpoint: string; members: Member[] }> {
  let failure: unknown;
  for (const endpoint of endpoints) {
    const client = connectEtcd([endpoint], access);
    try {
      await client.maintenance.status();
      return { endpoint, members: (await client.cluster.memberList({ linearizable: true })).members };
    } catch (error) {
      failure = error;
    } finally {
      client.close();
    }
  }
  throw new CliError('unreachable', `no member of etcd answers (${endpoints.join(',')})`, { cause: failure });
}

async function answers(url: string | undefined, access: EtcdAccess): Promise<boolean> {
  if (url === undefined) return false;
  const client = connectEtcd([url], access);
  try {
    await client.maintenance.status();
    return true;
  } catch {
    return false;
  } finally {
    client.close();
  }
}
