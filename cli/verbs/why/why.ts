/** `ipledger why NAMESPACE/POD`: explains the state of a Pod, and prints its history. */
import type { Command } from 'commander';
import {
  type Allocation,
  type Event,
  LedgerService,
  type Position,
  type WhyReply,
  type WriteObstacle,
} from '../../../proto/generated/ipledger.ts';
import { undefinedIfGone } from '../../../lib/errors.ts';
import { type LedgerClient, chartNamespace, namespaceOf } from '../../clients/ledger-client.ts';
import { eventColumns, formatEventRow } from '../../output/event-rows.ts';
import { type Northbound, type LogicalPort, comparePort, portsOfLedger } from '../../ovn/northbound.ts';
import { addNorthboundOption, type NorthboundOptions, readNorthbound } from '../../ovn/ovn-databases.ts';
import { CliError, exitStatus } from '../../cli-error.ts';
import type { ClusterSelection } from '../../../lib/kubernetes/client/cluster-access.ts';
import { connectKubernetes, hasKubeconfig } from '../../clients/kubernetes-client.ts';
import { createSlowSearchHint } from '../../output/progress.ts';
import { printAnswer } from '../../output/answer.ts';
import { formatTime } from '../../time/times.ts';
import { addReadModelOptions, type ReadModelOptions, outputStyle, withIndex } from '../../program/verb.ts';
import { type PodInCluster, readPodInCluster, readReleaseHalt } from './pod-in-cluster.ts';
import { buildPodHistories } from './pod-history.ts';
import { formatClusterPart, formatPodReport } from './format.ts';
import { diagnosePod } from './diagnosis.ts';

const maxEvents = 1_000;

export function defineWhy(verb: Command): void {
  addNorthboundOption(addReadModelOptions(verb))
    .addHelpText(
      'after',
      `
Use it for a Pod that hangs in ContainerCreating, and for a deleted Pod. Reads the cluster that KUBECONFIG or ~/.kube/config names, too.
Prints the newest ${maxEvents} events of the Pod's name; \`ipledger history pod NAMESPACE/POD\` prints all.

Exit status:
  0  the Pod is in the ledger or in the cluster
  ${exitStatus.empty}  it is in neither`,
    )
    .action((name: string, options: ReadModelOptions & NorthboundOptions) => {
      const [namespace, pod, ...rest] = name.split('/');
      if (!namespace || !pod || rest.length > 0)
        throw new CliError('usage', `${name} is not the name of a Pod: use NAMESPACE/NAME`);
      return withIndex(options, async (allocator, readModel, signal) => {
        const reading = readCluster(namespace, pod, options, signal);
        const [ledger, cluster, ovn, obstacle] = await Promise.all([
          readLedger(readModel ?? allocator, { namespace, pod }, createSlowSearchHint(options)).catch(
            async (error: unknown) => {
              await printClusterPart(options, name, (await reading).pod);
              throw error;
            },
          ),
          reading,
          readOvn(options, signal),
          readObstacle(allocator),
        ]);
        const pods = buildPodHistories(ledger.events);
        const { allocations } = ledger;
        const found = { pod: cluster.pod, allocations, halt: cluster.halt, obstacle };
        const logicalPorts = ovn.northbound
          ? describeLogicalPorts(allocations, ovn.northbound, installationOf(options))
          : [];
        const notes = [
          cluster.note,
          ovn.note,
          ledger.more ? `older events are left out: \`ipledger history pod ${name}\` prints them` : '',
        ];
        if (pods.length === 0 && !cluster.pod) process.exitCode = exitStatus.empty;
        await printAnswer(outputStyle(options), {
          content: {
            ...ledger,
            pod: cluster.pod,
            diagnosis: diagnosePod({ history: pods[0], ...found }),
            pods,
            ...(ovn.northbound && { logicalPorts }),
          },
          table: (zone, width) =>
            formatPodReport({ name, pods, logicalPorts, ...found }, (instant) =>
              formatTime(instant, zone, width === 'wide'),
            ),
          listing: () => ({ columns: eventColumns, rows: ledger.events.map(formatEventRow) }),
          note: notes.filter(Boolean).join('\n'),
        });
      });
    });
}

/** Prints what the cluster has about a Pod when the ledger cannot be read. */
async function printClusterPart(
  options: ReadModelOptions,
  name: string,
  pod: PodInCluster | null | undefined,
): Promise<void> {
  if (!pod) return;
  await printAnswer(outputStyle(options), {
    content: { pod },
    table: (zone, width) => formatClusterPart({ name, pod }, (instant) => formatTime(instant, zone, width === 'wide')),
    listing: () => ({ columns: eventColumns, rows: [] }),
  });
}

/** The namespace of ipledger. */
const installationOf = ({ allocator }: Pick<ReadModelOptions, 'allocator'>): string =>
  namespaceOf(allocator) ?? chartNamespace;

interface LedgerPart {
  readonly position: Position | undefined;
  readonly allocations: readonly Allocation[];
  /** The newest events, and the grants of the current allocations, newest first. */
  readonly events: readonly Event[];
  /** Whether older events are left out. */
  readonly more: boolean;
}

interface PodName {
  readonly namespace: string;
  readonly pod: string;
}

async function readLedger(
  allocator: LedgerClient,
  name: PodName,
  hintSlowSearch: ReturnType<typeof createSlowSearchHint>,
): Promise<LedgerPart> {
  const events: Event[] = [];
  const request = (pageToken: string): Promise<WhyReply> =>
    allocator.call(LedgerService.why, { ...name, pageSize: maxEvents - events.length, pageToken });
  let reply: WhyReply | undefined = await request('');
  const { position, allocations } = reply;
  let more = true;
  while (reply) {
    events.push(...reply.events);
    more = reply.nextPageToken !== '';
    if (!more || events.length >= maxEvents) break;
    hintSlowSearch(position, reply.searchedDownToSeq);
    reply = await undefinedIfGone(request(reply.nextPageToken));
  }
  const oldest = events.at(-1)?.seq ?? 0;
  const leftOut = allocations.filter(({ seq }) => seq < oldest).toSorted((a, b) => b.seq - a.seq);
  for (const { seq } of leftOut) events.push(...(await readGrant(allocator, name, seq)));
  return { position, allocations, events, more };
}

/** Reads the event with this number, which allocated an address to the Pod. */
async function readGrant(allocator: LedgerClient, name: PodName, seq: number): Promise<readonly Event[]> {
  const reply = await allocator.call(LedgerService.history, { ...name, pageToken: String(seq), pageSize: 1 });
  return reply.events.filter((event) => event.seq === seq);
}

/** Reads why nothing can be written to the ledger; undefined without an answer. */
const readObstacle = (allocator: LedgerClient): Promise<WriteObstacle | undefined> =>
  allocator.call(LedgerService.getStatus, {}).then(
    ({ cannotWrite }) => cannotWrite,
    () => undefined,
  );

/** Reads the Pod in the cluster; undefined without a kubeconfig, or without an answer. */
async function readCluster(
  namespace: string,
  name: string,
  selection: ClusterSelection & Pick<ReadModelOptions, 'allocator'>,
  signal: AbortSignal,
): Promise<{
  readonly pod: PodInCluster | null | undefined;
  readonly halt?: string | undefined;
  readonly note?: string;
}> {
  if (!hasKubeconfig(process.env, selection))
    return { pod: undefined, note: 'the cluster was not read: there is no kubeconfig' };
  try {
    const kubernetes = await connectKubernetes(signal, selection);
    const pod = await readPodInCluster(kubernetes, namespace, name);
    return pod ? { pod } : { pod: null, halt: await readReleaseHalt(kubernetes, namespace, installationOf(selection)) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { pod: undefined, note: error.message };
  }
}

/** Reads the northbound database of OVN; undefined without an answer. */
async function readOvn(
  options: NorthboundOptions,
  signal: AbortSignal,
): Promise<{ readonly northbound?: Northbound | undefined; readonly note?: string }> {
  try {
    return { northbound: await readNorthbound(options, undefined, signal) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { note: error.message };
  }
}

/**
 * Returns a sentence for each logical port and each difference. @param allocations the current ones
 * of one Pod @param namespace that of ipledger
 */
export function describeLogicalPorts(
  allocations: readonly Allocation[],
  { ports }: Northbound,
  namespace: string,
): string[] {
  return [...portsOfLedger(allocations)].flatMap(([name, allocation]) => {
    const found = ports.filter((port) => port.name === name);
    const drifts = comparePort(name, allocation, found, namespace);
    const own = found.find(({ isOurs }) => isOurs);
    return [
      ...drifts.map(({ kind, where, what, remedy }) => `${kind}: ${where}: ${what}. Run: ${remedy}`),
      ...(own ? [describeState(own, allocation)] : []),
    ];
  });
}

function describeState({ name, isUp, requestedChassis }: LogicalPort, { bindings, node }: Allocation): string {
  if (isUp) return `port ${name} is up${requestedChassis === '' ? '' : ` on ${requestedChassis}`}`;
  const on = requestedChassis || node;
  if (bindings.length === 0)
    return `port ${name} is not up, because no container has it yet: see the Events FailedCreatePodSandBox and the log of node-agent${on === '' ? '' : ` on ${on}`}`;
  return `port ${name} is not up, although a container has it: check ovn-controller on ${on} with \`ovn-appctl -t ovn-controller connection-status\`, and the port with \`ovs-vsctl find interface external_ids:iface-id=${name}\``;
}
