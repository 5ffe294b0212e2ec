/** `ipledger recover`: brings a ledger from a backup up to the state of the cluster. */
import { type Command, InvalidArgumentError } from 'commander';
import { LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { listAllocations, listBindings } from '../../clients/list-allocations.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { CliError, exitStatus } from '../../cli-error.ts';
import { connectOwnObjects } from '../../clients/kubernetes-client.ts';
import type { Answer } from '../../output/answer.ts';
import { applyRecovery } from './apply-recovery.ts';
import { planRecovery } from './recovery-plan.ts';
import { formatRecovery } from './format.ts';
import { findMissingEvents } from './missing-events.ts';
import { readClusterSnapshot } from '../../cluster/cluster-snapshot.ts';
import type { KubernetesReader } from '../../cluster/read-cluster.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../../program/verb.ts';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../../lib/errors.ts';
import { type BindingFile, maxBindingFileBytes, maxBindingFiles, parseBindingFile } from '../../../lib/binding-file.ts';
import { isDnsSubdomain } from '../../../lib/kubernetes/ip-object-name.ts';
import { pause } from '../../../lib/process/abortable.ts';
import { readTrustedFile } from '../../../lib/process/trusted-file.ts';

interface RecoverOptions extends VerbOptions {
  readonly apply: boolean;
  readonly undetected: boolean;
  readonly reason?: string;
  readonly fromExport?: string;
  readonly bindings: readonly BindingFolder[];
  readonly waitSeconds: number;
}

/** An agent compares its containers with a new epoch within 90 s of a connection. */
const defaultWaitSeconds = 100;
const maxWaitSeconds = 3_600;

export function defineRecover(verb: Command): void {
  addVerbOptions(verb)
    .option('--apply', 'recover and unfreeze the ledger; without it, only print what would change', false)
    .option('--reason <text>', 'why; the ledger keeps it for good (needed with --apply)')
    .option('--undetected', 'recover although the restore was not detected, so that the ledger is not frozen', false)
    .option('--from-export <file>', "print the operators' commands that are lost, from an export made after the backup")
    .option(
      '--bindings <node=folder>',
      'a copy of the binding files of a node (/var/lib/ipledger/bindings), as evidence; repeat for each node',
      collectFolders,
      [],
    )
    .option(
      '--wait-seconds <seconds>',
      'with --apply: how long the ledger stays frozen while the agents bind the containers again that the backup lacks',
      parseSeconds,
      defaultWaitSeconds,
    )
    .addHelpText(
      'after',
      `
A restored ledger is frozen: it allocates and releases nothing. An allocator freezes it at start after the documented restore, and after any
other one when a client shows events that it lacks. This verb compares it with the Subnets, IPPools, IP objects and Pods of the cluster
that KUBECONFIG names. With --apply it starts a new epoch (LedgerRestored), releases unused allocations, imports the addresses of Pods,
waits for the agents, and unfreezes the ledger. After an interrupted run, run it again. If two runs overlap, one starts the epoch, and
the other fails and changes nothing.

A conflict is listed with its remedy and left out: annotations of Pods are written by tenants, and count less than the ledger and IP
objects. Addresses that nothing decides are quarantined, until you run ipledger unquarantine. --bindings and --from-export add evidence
that tenants cannot write. Sealed events are an export, too: zcat LEDGER/*.events.ndjson.gz in the archive, and --from-export -.

Exit status:
  0  recovered; without --apply: there are no conflicts
  ${exitStatus.refused}  there are conflicts, or the ledger rejected a part; it stays frozen if that is a Subnet, an IPPool or a quarantine`,
    )
    .action((options: RecoverOptions) =>
      runAndPrint(options, (allocator, signal) => recover(allocator, options, signal)),
    );
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!/^[0-9]+$/.test(text) || seconds > maxWaitSeconds)
    throw new InvalidArgumentError(`It must be a number from 0 to ${maxWaitSeconds}.`);
  return seconds;
}

function collectFolders(text: string, earlier: readonly BindingFolder[]): readonly BindingFolder[] {
  const folder = parseBindingFolder(text);
  if (!folder) throw new InvalidArgumentError('It must be NODE=FOLDER.');
  return [...earlier, folder];
}

async function recover(allocator: LedgerClient, options: RecoverOptions, signal: AbortSignal): Promise<Answer> {
  const { reason = '', undetected } = options;
  if (options.apply && reason.trim() === '')
    throw new CliError('usage', '--apply needs --reason: the event records it');
  const bound = await readBindingFolders(options.bindings);
  const kubernetes = await connectOwnObjects(signal, options);
  const { status, missingEvents, recovery } = await compareWithCluster(allocator, kubernetes, options, bound);
  if (recovery.conflicts.length > 0) process.exitCode = exitStatus.refused;
  if (!options.apply) return formatRecovery(recovery, { status, missingEvents, applied: false, rejected: [] });
  const { position: comparedPosition = { epoch: 0, seq: 0, hash: '' } } = status;
  const { waitSeconds } = options;
  const waitForAgents = async (): Promise<void> => {
    if (waitSeconds > 0)
      process.stderr.write(
        `The ledger stays frozen for ${waitSeconds} s, while the agents bind their containers again.\n`,
      );
    await pause(waitSeconds * 1_000, signal);
    signal.throwIfAborted();
  };
  const rejected = await applyRecovery(
    recovery,
    { reason, freezeFirst: undetected, comparedPosition, waitForAgents },
    { allocator, kubernetes },
  );
  if (rejected.length > 0) process.exitCode = exitStatus.refused;
  return formatRecovery(recovery, { status, missingEvents, applied: true, rejected });
}

/**
 * Compares the ledger with the cluster. Changes nothing.
 * @param bound the bindings of nodes whose files an operator has copied
 * @throws CliError, IpledgerError when the allocator or the API do not answer
 */
export async function compareWithCluster(
  allocator: LedgerClient,
  kubernetes: KubernetesReader,
  { fromExport, undetected }: Pick<RecoverOptions, 'fromExport' | 'undetected'>,
  bound: readonly BindingFile[],
) {
  const status = await allocator.call(LedgerService.getStatus, {});
  const missingEvents = fromExport === undefined ? undefined : await findMissingEvents(fromExport, allocator);
  // Read before the cluster: a Pod that is created between the two reads would seem to be absent
  const { allocations } = await listAllocations(allocator, {});
  const bindings = await listBindings(allocator);
  const snapshot = await readClusterSnapshot(kubernetes);
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {});
  const { pools } = await allocator.call(SubnetsService.listPools, {});
  // Event numbers of a recovered ledger and of an export cannot be compared
  const exported = status.freeze || undetected ? (missingEvents?.allocations ?? []) : [];
  const recovery = planRecovery(snapshot, { allocations, bindings, subnets, pools }, { exported, bound });
  return { status, missingEvents, recovery };
}

/** Whether a file in the folder of a node shows what a container of that node uses. */
export const isEvidence = (binding: BindingFile, node: string): boolean =>
  binding.node === node && !binding.isDeleted && !binding.isPending;

/** The folder with the binding files of one node. */
export interface BindingFolder {
  readonly node: string;
  readonly folder: string;
}

/** Parses NODE=FOLDER; undefined for another text. */
export function parseBindingFolder(text: string): BindingFolder | undefined {
  const [, node = '', folder = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  return isDnsSubdomain(node) ? { node, folder } : undefined;
}

/**
 * Reads the bindings of containers that have not ended. A file of another node is left out: a node
 * proves only the addresses of its own Pods.
 * @throws CliError for a folder or a file that cannot be read: evidence is never left out silently
 */
export async function readBindingFolders(folders: readonly BindingFolder[]): Promise<BindingFile[]> {
  const bindings: BindingFile[] = [];
  for (const each of folders) bindings.push(...(await readFolder(each)));
  return bindings;
}

async function readFolder({ node, folder }: BindingFolder): Promise<BindingFile[]> {
  const bindings: BindingFile[] = [];
  let path = folder;
  let files = 0;
  try {
    for await (const { name } of await opendir(folder)) {
      if (!name.endsWith('.json')) continue;
      if (++files > maxBindingFiles) throw new Error(`it has more than ${maxBindingFiles} binding files`);
      path = join(folder, name);
      const binding = parseBindingFile(name, await readTrustedFile(path, maxBindingFileBytes));
      path = folder;
      if (isEvidence(binding, node)) bindings.push(binding);
    }
  } catch (error) {
    const reason = errorMessage(error);
    throw new CliError('usage', `cannot read ${path}, with bindings of node ${node}: ${reason}`, { cause: error });
  }
  return bindings;
}
