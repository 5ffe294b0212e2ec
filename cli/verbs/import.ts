/** `ipledger import`: imports the addresses of another IPAM, so that each Pod keeps its address. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  kubeOvnLeasePath,
  kubeOvnRunningMessage,
  podWatcherLease,
  podWatcherLeasePath,
} from '../../lib/kubernetes/lease-observer.ts';
import { SubnetsService } from '../../proto/generated/ipledger.ts';
import { connectKubernetes, connectOwnObjects, type KubernetesClient } from '../clients/kubernetes-client.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { listAllocations } from '../clients/list-allocations.ts';
import { type ClusterSnapshot, readClusterSnapshot } from '../cluster/cluster-snapshot.ts';
import { assertControllerStopped } from '../cluster/controller-check.ts';
import { applyPlan } from '../import/apply-plan.ts';
import { leaveOutConflicts } from '../import/conflict.ts';
import { createAnswer } from '../import/format.ts';
import { type NodeFolder, readHostLocal } from '../import/host-local.ts';
import { findConflicts, type LedgerContents, planImport } from '../import/import-plan.ts';
import { type AddressPlan, planAddresses } from '../import/plan-addresses.ts';
import type { SourceAddresses } from '../import/source-address.ts';
import { parseWhereabouts, whereaboutsPaths } from '../import/whereabouts.ts';
import type { Answer } from '../output/answer.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

/** The most repetitions of an option. */
const maxRepetitions = 10_000;
/** The most networks that an error message names. */
const maxShownNetworks = 20;

interface ImportOptions extends VerbOptions {
  readonly apply: boolean;
}

interface PluginOptions extends ImportOptions {
  readonly namespace: string;
  readonly network: readonly string[];
  readonly map: ReadonlyMap<string, string>;
}

interface HostLocalOptions extends PluginOptions {
  readonly folder: ReadonlyMap<string, string>;
}

type IsSelected = (network: string) => boolean;

/** Defines a subcommand for each source. */
export function defineImport(verb: Command): void {
  defineKubeOvn(verb);
  defineWhereabouts(verb);
  defineHostLocal(verb);
}

function defineKubeOvn(verb: Command): void {
  const source = verb
    .command('kube-ovn')
    .description('import Subnets, IPPools, IPs, Vips and the Pods that have addresses');
  addApplyOption(
    addVerbOptions(source),
    `Reads the cluster that KUBECONFIG names. Stop kube-ovn-controller; then import; then start the pod-watcher. The verb lists all
conflicts. One of Subnets stops the import. One of Pods leaves them out, and quarantines addresses that nothing decides: resolve it,
run ipledger unquarantine, and import again. After an interrupted run, run it again.`,
  ).action((options: ImportOptions) =>
    runAndPrint(options, (allocator, signal) => importKubeOvn(allocator, options, signal)),
  );
}

async function importKubeOvn(allocator: LedgerClient, options: ImportOptions, signal: AbortSignal): Promise<Answer> {
  const kubernetes = await connectKubernetes(signal, options);
  await assertControllerStopped(
    kubernetes,
    { lease: kubeOvnLeasePath, describeHolder: (holder) => kubeOvnRunningMessage(holder, 'import') },
    signal,
  );
  return runImport({ allocator, kubernetes, apply: options.apply }, (snapshot, ledger) => {
    const plan = planImport(snapshot);
    return { plan, conflicts: findConflicts(plan, snapshot, ledger) };
  });
}

function defineWhereabouts(verb: Command): void {
  const source = verb
    .command('whereabouts')
    .description('import the allocations in the IPPools of whereabouts for Pods that run');
  addPluginOptions(source, 'the name of the IPPool, for example 10.8.0.0-16').action((options: PluginOptions) =>
    importAddresses(options, async (kubernetes, isSelected) => {
      const [pools, reservations] = await Promise.all([
        kubernetes.list(whereaboutsPaths.pools),
        kubernetes.list(whereaboutsPaths.reservations),
      ]);
      return parseWhereabouts({ pools, reservations }, isSelected);
    }),
  );
}

function defineHostLocal(verb: Command): void {
  const source = verb
    .command('host-local')
    .description('import the addresses in the folders of host-local for Pods that run')
    .requiredOption(
      '--folder <node=dir>',
      'a copy of /var/lib/cni/networks of a node; repeat it per node',
      collectPairs,
    );
  addPluginOptions(source, 'the name in the CNI configuration').action((options: HostLocalOptions) => {
    const folders = [...options.folder].map(([node, folder]): NodeFolder => ({ node, folder }));
    return importAddresses(options, (_kubernetes, isSelected) => readHostLocal(folders, isSelected));
  });
}

const addPluginOptions = (source: Command, network: string): Command =>
  addApplyOption(
    addVerbOptions(source)
      .option('--network <name>', `import this network only: ${network}; repeat it for several`, collect, [])
      .option(
        '--map <network=subnet>',
        'the Subnet of a network, where it does not follow from the Pod; repeat it for several',
        collectPairs,
        new Map(),
      )
      .option('--namespace <name>', "the namespace of the pod-watcher's Lease", 'kube-system'),
    `Reads the cluster that KUBECONFIG names, and changes nothing of the source. For --apply, stop the pod-watcher, set ipam of the
NetworkAttachmentDefinitions to ipledger, import, and start the pod-watcher. The verb lists all conflicts. One of Subnets stops the
import. Another one leaves out its entries, and quarantines their addresses where a container may use them: resolve it, run
ipledger unquarantine, and import again. After an interrupted run, run it again.`,
  );

const importAddresses = (
  options: PluginOptions,
  read: (kubernetes: KubernetesClient, isSelected: IsSelected) => Promise<SourceAddresses>,
): Promise<void> =>
  runAndPrint(options, async (allocator, signal) => {
    const kubernetes = await connectOwnObjects(signal, options);
    const { apply, network, namespace } = options;
    if (apply) await assertWatcherStopped(kubernetes, namespace, signal);
    const isSelected: IsSelected = (name) => network.length === 0 || network.includes(name);
    const addresses = await read(kubernetes, isSelected);
    assertNetworksExist(addresses, [...network, ...options.map.keys()]);
    return runImport({ allocator, kubernetes, apply }, (snapshot, ledger) =>
      planAddresses(addresses, snapshot, ledger, options.map),
    );
  });

/** Rejects a running pod-watcher: it would give other addresses to Pods that the ledger lacks. */
const assertWatcherStopped = (kubernetes: KubernetesClient, namespace: string, signal: AbortSignal): Promise<void> =>
  assertControllerStopped(
    kubernetes,
    {
      lease: podWatcherLeasePath(namespace),
      describeHolder: ({ holder, renewed }) =>
        `a pod-watcher is running, which would allocate other addresses to the Pods: ${holder} holds the Lease ${podWatcherLease} (renewed ${renewed}); stop it first, then import`,
    },
    signal,
  );

/** Rejects a network that the source lacks, as a misspelled name. @throws CliError */
function assertNetworksExist({ networks }: SourceAddresses, names: readonly string[]): void {
  const unknown = names.find((name) => !networks.has(name));
  if (unknown === undefined) return;
  const known = [...networks].slice(0, maxShownNetworks).join(', ') || 'no networks';
  throw new CliError('usage', `the source has no network ${unknown}; it has ${known}`);
}

/** Adds `--apply`, and the help text: `steps` states the order of the imports. */
const addApplyOption = (source: Command, steps: string): Command =>
  source.option('--apply', 'import; without it, only print what would be imported', false).addHelpText(
    'after',
    `
${steps}

Exit status:
  0  imported; without --apply: no conflicts
  ${exitStatus.refused}  there are conflicts, or the ledger rejected a part`,
  );

interface ImportTarget {
  readonly allocator: LedgerClient;
  readonly kubernetes: KubernetesClient;
  readonly apply: boolean;
}

/** Plans an import. With `apply` it imports all but the conflicts, unless a conflict stops it. */
async function runImport(
  { allocator, kubernetes, apply }: ImportTarget,
  makePlan: (snapshot: ClusterSnapshot, ledger: LedgerContents) => AddressPlan,
): Promise<Answer> {
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {});
  const { allocations } = await listAllocations(allocator, {});
  const snapshot = await readClusterSnapshot(kubernetes);
  const { plan: complete, conflicts } = makePlan(snapshot, { subnets, allocations });
  const plan = { ...complete, ...leaveOutConflicts(complete, conflicts, { allocations, subnets: snapshot.subnets }) };
  const applied = apply && conflicts.every(({ leavesOut }) => leavesOut);
  const rejected = applied ? await applyPlan(plan, { allocator, kubernetes }) : [];
  if (conflicts.length + rejected.length > 0) process.exitCode = exitStatus.refused;
  return createAnswer(plan, { applied, conflicts, rejected });
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  if (previous.length >= maxRepetitions) throw new InvalidArgumentError(`It is repeated over ${maxRepetitions} times.`);
  return [...previous, value];
}

function collectPairs(value: string, previous: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const at = value.indexOf('=');
  const [key, what] = [value.slice(0, at), value.slice(at + 1)];
  if (at < 1 || what === '') throw new InvalidArgumentError('It is not NAME=VALUE.');
  if (previous.has(key)) throw new InvalidArgumentError(`${key} is named twice.`);
  if (previous.size >= maxRepetitions) throw new InvalidArgumentError(`It is repeated over ${maxRepetitions} times.`);
  return new Map([...previous, [key, what]]);
}
