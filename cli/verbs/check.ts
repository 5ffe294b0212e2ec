/** `ipledger check`: compares the ledger with the Kubernetes API, with OVN and Open vSwitch. */
import type { Command } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { type Finding, LedgerService, type SandboxBinding } from '../../proto/generated/ipledger.ts';
import { asCalled } from '../called-as.ts';
import { connectOwnObjects } from '../clients/kubernetes-client.ts';
import {
  addNodeSwitchOption,
  addNorthboundOption,
  type NodeSwitchOptions,
  type NorthboundOptions,
} from '../ovn/ovn-databases.ts';
import { type Answer, formatCount } from '../output/answer.ts';
import { endOfBinding } from '../output/format.ts';
import { formatPodName, joinNonEmpty } from '../../lib/ledger-text/texts.ts';
import { formatRepairCommand } from '../shell-command.ts';
import { noticeOfStorageUse } from '../output/storage-use.ts';
import { formatTable, textColumns } from '../output/table.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { endpointsOf } from '../program/allocator-options.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';
import type { CheckInput, LedgerEndpoints } from '../comparison/check-input.ts';
import { findBindingsWithoutAllocation } from '../comparison/compare-ledger.ts';
import { type Comparison, compareTwice, secondReadAfterMs } from '../comparison/compare-twice.ts';
import type { Disagreement } from '../comparison/disagreement.ts';

const columns = textColumns('DISAGREEMENT', 'WHERE', 'WHAT', 'REMEDY');

type CheckOptions = VerbOptions & NorthboundOptions & NodeSwitchOptions;

export function defineCheck(verb: Command): void {
  addNodeSwitchOption(addNorthboundOption(addVerbOptions(verb)))
    .option('--keys', 'compare every key in etcd with the log, too; this reads all of it', false)
    .addHelpText(
      'after',
      `
Reads the cluster that KUBECONFIG names, with --ovn-nb and --ovs-db also OVN and the switch of this node, and changes nothing.
Needs the permission to list Pods, Nodes, StatefulSets, NetworkAttachmentDefinitions, Subnets, IPPools, Vips and IPs, and with KubeVirt
VirtualMachines. Differences are read again after ${secondReadAfterMs / 1_000} s. Only those that last are reported.

Exit status:
  0  no disagreement
  ${exitStatus.disagreement}  disagreements
  ${exitStatus.notCompared}  the comparison failed`,
    )
    .action(async ({ keys, ...options }: CheckOptions & { readonly keys: boolean }) => {
      try {
        const endpoints = endpointsOf(options);
        await runAndPrint(options, async (allocator, signal) => {
          const ledger = { allocator, endpoints, options, signal };
          const damagedKeys = keys ? await compareKeys(ledger) : [];
          const kubernetes = await connectOwnObjects(signal, options);
          const refuse = refuseEmptyLedger(options.allocator);
          const { disagreements, ...comparison } = await compareTwice({ ...ledger, kubernetes }, refuse);
          const found = [...damagedKeys, ...disagreements];
          const named = found.map((each) => ({ ...each, remedy: asCalled(each.remedy) }));
          return createAnswer({ ...comparison, disagreements: named });
        });
      } catch (error) {
        throw comparisonFailed(error);
      }
    });
}

/**
 * Returns every key in etcd that differs from what the log implies. The allocator compares them, at
 * one revision.
 * @throws CliError without a result; IpledgerError when the allocator rejects the request, or after
 * an abort.
 */
async function compareKeys({
  allocator,
  signal,
}: Pick<LedgerEndpoints, 'allocator' | 'signal'>): Promise<Disagreement[]> {
  for await (const { done, findings } of allocator.stream(LedgerService.verify, {}))
    if (done) return findings.map(keyDisagreement);
  if (signal.aborted) throw IpledgerError.from(signal.reason);
  throw new CliError('notCompared', 'the allocator ended its verification without a result');
}

function keyDisagreement(finding: Finding): Disagreement {
  return { kind: 'key', where: finding.key, what: finding.what, remedy: formatRepairCommand(finding) };
}

/** Rejects an empty ledger: it is that of another allocator, or of an etcd that lost its data. */
const refuseEmptyLedger =
  (allocator: string) =>
  ({ ledger }: CheckInput): void => {
    if ((ledger.position?.seq ?? 0) === 0)
      throw new CliError(
        'notCompared',
        `there is no event in the ledger of ${allocator}: check that it is the right allocator`,
      );
  };

function createAnswer({
  input: { ledger, cluster, northbound, nodeSwitch },
  disagreements,
  transient,
}: Comparison): Answer {
  if (disagreements.length > 0) process.exitCode = exitStatus.disagreement;
  const compared = {
    pods: cluster.pods.length,
    allocations: ledger.allocations.length,
    ipObjects: cluster.ips.length,
    ...(northbound && { logicalPorts: northbound.ports.length }),
    ...(nodeSwitch && { switchInterfaces: nodeSwitch.interfaces.length }),
  };
  const heldByBindings = findBindingsWithoutAllocation(ledger);
  const rows = disagreements.map(({ kind, where, what, remedy }) => [kind, where, what, remedy]);
  const listing = { columns, rows };
  const result = disagreements.length === 0 ? 'no disagreement' : formatCount(disagreements.length, 'disagreement');
  const counts = [
    formatCount(compared.pods, 'Pod'),
    formatCount(compared.allocations, 'allocation'),
    formatCount(compared.ipObjects, 'IP object'),
    ...(northbound ? [formatCount(northbound.ports.length, 'logical port')] : []),
    ...(nodeSwitch ? [formatCount(nodeSwitch.interfaces.length, 'OVS interface')] : []),
  ].join(', ');
  return {
    content: { position: ledger.position, compared, disagreements, heldByBindings, transient },
    table: (zone) =>
      `${rows.length > 0 ? formatTable(listing, zone) : ''}${counts} compared at seq ${ledger.position?.seq ?? 0}: ${result}\n`,
    listing: () => listing,
    note: joinNonEmpty(
      '\n',
      ...heldByBindings.map(describeHeld),
      transient > 0 ? describeTransient(transient) : '',
      noticeOfStorageUse(ledger.storage),
    ),
  };
}

const describeTransient = (count: number): string => `${formatCount(count, 'transient difference')} left out`;

/** Describes a held address. It is no disagreement, but explains why the address is not free. */
const describeHeld = ({ attachment, subnet, addresses, binding }: SandboxBinding): string =>
  `${addresses.join(',')} of subnet ${subnet} is held: container ${binding?.containerId} of Pod ${formatPodName(attachment)} on node ${binding?.node} may still answer on it, bound since ${binding?.at}; ${endOfBinding(binding?.node ?? '')}`;

/** Gives a failed comparison a status of its own, because status 1 means disagreements. */
function comparisonFailed(thrown: unknown): unknown {
  const error = thrown instanceof CliError ? thrown : IpledgerError.from(thrown);
  if (error instanceof IpledgerError && error.code === 'CANCELLED') return error;
  return new CliError('notCompared', `the comparison failed: ${error.message}`, { cause: thrown });
}
