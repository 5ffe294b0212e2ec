/** Gathers the facts about an installation: one gatherer for each source, each may fail alone. */
import type { KubeConfig } from '@kubernetes/client-node';
import { errorMessage, IpledgerError } from '../../lib/errors.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { loadKubeconfig } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { version } from '../../lib/process/version.ts';
import { LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { CliError } from '../cli-error.ts';
import { connectOwnObjects, hasKubeconfig, type KubernetesClient } from '../clients/kubernetes-client.ts';
import { type LedgerClient, type LedgerTarget, openAllocatorClient } from '../clients/ledger-client.ts';
import { compareTwice } from '../comparison/compare-twice.ts';
import type { LedgerEndpoints } from '../comparison/check-input.ts';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import type { NodeSwitchOptions, NorthboundOptions } from '../ovn/ovn-databases.ts';
import type { Facts, Gap, Part } from './facts.ts';
import { observeLease, readBackup, readDefinitions, readNewestCheckpoint, readWorkloads } from './read-installation.ts';
import { readNetworks, readSubnets } from './read-networks.ts';
import { readPermissions } from './read-permissions.ts';
import { findPodProblems } from './pod-problems.ts';
import { listOwnPods, readPrograms } from './read-programs.ts';
import { readSandboxFailures } from './read-sandbox-failures.ts';
import { readWarnings } from './read-warnings.ts';

/** A list of disagreements of a ledger that is wrong as a whole would fill a terminal. */
const maxDisagreements = 1_000;

export interface FactSources extends LedgerEndpoints {
  readonly options: ClusterSelection & NorthboundOptions & NodeSwitchOptions;
  /** Where ipledger is installed. */
  readonly namespace: string;
  readonly skip: readonly Part[];
  /** "host:port" of /metrics of programs outside of Pods. */
  readonly addresses: readonly string[];
  /**
   * Whether the other facts are worth a comparison, which reads the whole cluster. Absent: they
   * always are.
   */
  readonly compareIf?: (others: Facts) => boolean;
}

interface Cluster {
  readonly kubernetes: KubernetesClient;
  readonly config: KubeConfig;
}

type Attempt = <T>(part: string, read: () => Promise<T>) => Promise<T | undefined>;

/** @throws IpledgerError CANCELLED after an abort; nothing else */
export async function gatherFacts(sources: FactSources): Promise<Facts> {
  const { skip, namespace, signal } = sources;
  const gaps: Gap[] = [];
  const attempt: Attempt = async (part, read) => {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted) throw IpledgerError.from(signal.reason);
      gaps.push({ part, reason: errorMessage(error), ...(isLasting(error) && { isLasting: true }) });
      return undefined;
    }
  };
  const unless = <T>(part: Part, read: () => Promise<T>): Promise<T | undefined> =>
    skip.includes(part) ? Promise.resolve(undefined) : read();
  const cluster = await unless('kubernetes', () => attempt('Kubernetes', () => openCluster(sources)));
  const startComparison = (): Promise<Facts['comparison']> =>
    cluster ? unless('comparison', () => attempt('comparison', () => compare(sources, cluster.kubernetes))) : absent;
  const [early, allocators, ofPods, objects] = await Promise.all([
    sources.compareIf ? absent : startComparison(),
    unless('allocators', () => readAllocators(sources, attempt)),
    readPods(sources, cluster, attempt),
    cluster && readObjects(sources, cluster.kubernetes, attempt),
  ]);
  const { programs, pods } = ofPods;
  const { newestAt, ...ofCluster } = objects ?? {};
  const { isSigned, ...ofAllocators } = allocators ?? {};
  const found = (comparison: Facts['comparison']): Facts =>
    withoutAbsent({
      format: 1 as const,
      gatheredAt: new Date().toISOString(),
      version,
      namespace,
      skipped: [...skip],
      gaps: [...gaps, ...(programs?.gaps ?? [])],
      ...ofAllocators,
      ...(isSigned !== undefined && { checkpoints: { isSigned, newestAt } }),
      comparison,
      programs: programs && [...programs.programs],
      pods,
      ...ofCluster,
    });
  if (!sources.compareIf || !cluster || skip.includes('comparison')) return found(early);
  if (sources.compareIf(found(undefined))) return found(await startComparison());
  gaps.push({ part: 'comparison', reason: 'it is made when nothing else is wrong' });
  return found(undefined);
}

const absent = Promise.resolve(undefined);

/** A part without a value is absent, as in a bundle. */
const withoutAbsent = (facts: Facts): Facts => JSON.parse(JSON.stringify(facts)) as Facts;

const withoutKubeconfig = new Error('there is no kubeconfig: set KUBECONFIG, or add --skip kubernetes');

/** Whether an error stays until a person gives a kubeconfig, a valid login or a permission. */
function isLasting(error: unknown): boolean {
  if (error instanceof IpledgerError) return error.code === 'PERMISSION_DENIED';
  const cause = error instanceof CliError ? error.cause : undefined;
  return error === withoutKubeconfig || (cause instanceof ApiError && cause.reaction === 'denied');
}

async function openCluster({ options, signal }: FactSources): Promise<Cluster> {
  if (!hasKubeconfig(process.env, options)) throw withoutKubeconfig;
  return { kubernetes: await connectOwnObjects(signal, options), config: await loadKubeconfig(options) };
}

async function readAllocators({ allocator, endpoints, signal }: FactSources, attempt: Attempt) {
  const [status, isSigned, replicas] = await Promise.all([
    attempt('allocators', () => allocator.call(LedgerService.getStatus, {})),
    attempt('checkpoints', async () => {
      try {
        await allocator.call(LedgerService.checkpoint, {});
        return true;
      } catch (error) {
        if (error instanceof IpledgerError && error.code === 'NO_CHECKPOINT_KEY') return false;
        throw error;
      }
    }),
    // The status is that of one replica
    Promise.all(endpoints.length > 1 ? endpoints.map((endpoint) => probe(endpoint, signal)) : []),
  ]);
  if (!status) return { replicas };
  const quarantines = await attempt('quarantines', () => readQuarantines(allocator));
  const { ledger, position, ledgerTime, freeze, cannotWrite, storage } = status;
  return {
    status: { ledger, seq: position?.seq ?? 0, ledgerTime, frozenBy: freeze?.reportedBy, cannotWrite, storage },
    isSigned,
    quarantines,
    replicas,
  };
}

/** Returns none for an allocator of an earlier version, which does not count them. */
async function readQuarantines(allocator: LedgerClient): Promise<NonNullable<Facts['quarantines']>> {
  const { subnets } = await allocator.call(SubnetsService.listSubnets, {});
  return subnets.flatMap(({ name, usage }) => {
    const counted = usage.filter(({ quarantined }) => Number(quarantined) > 0);
    if (counted.length === 0) return [];
    const count = counted.reduce((sum, { quarantined }) => sum + Number(quarantined), 0);
    return [{ subnet: name, count, range: counted.map(({ quarantinedRange }) => quarantinedRange).join(',') }];
  });
}

async function probe(endpoint: LedgerTarget, signal: AbortSignal): Promise<{ endpoint: string; failure: string }> {
  using replica = openAllocatorClient(endpoint, signal);
  try {
    await replica.call(LedgerService.getStatus, {});
    return { endpoint: endpoint.endpoint, failure: '' };
  } catch (error) {
    return { endpoint: endpoint.endpoint, failure: errorMessage(error) };
  }
}

async function compare(sources: FactSources, kubernetes: KubernetesClient): Promise<Facts['comparison']> {
  const { input, disagreements } = await compareTwice({ ...sources, kubernetes });
  return {
    disagreements: disagreements.slice(0, maxDisagreements),
    leftOut: Math.max(0, disagreements.length - maxDisagreements),
    pods: input.cluster.pods.length,
    bindings: input.ledger.bindings.length,
  };
}

/** The programs, and why Pods do not run: from one list of Pods. */
async function readPods(sources: FactSources, cluster: Cluster | undefined, attempt: Attempt) {
  const { namespace, addresses, skip } = sources;
  const items = cluster && (await attempt('Pods', () => listOwnPods(cluster.kubernetes, namespace)));
  if (cluster && !items && addresses.length === 0) return {};
  const readMetrics = !skip.includes('metrics');
  const read = () => readPrograms({ ...sources, cluster, pods: items ?? [], readMetrics });
  return { programs: await attempt('programs', read), pods: items && findPodProblems(items, Date.now()) };
}

async function readObjects({ namespace, signal }: FactSources, kubernetes: KubernetesClient, attempt: Attempt) {
  const [warnings, sandboxFailures, workloads, definitions, permissions, networks, subnets, leases, backup, newestAt] =
    await Promise.all([
      attempt('Events', () => readWarnings(kubernetes, namespace)),
      attempt('sandboxes', () => readSandboxFailures(kubernetes, Date.now())),
      attempt('workloads', () => readWorkloads(kubernetes, namespace)),
      attempt('CustomResourceDefinitions', () => readDefinitions(kubernetes)),
      attempt('RBAC', () => readPermissions(kubernetes, namespace)),
      attempt('NetworkAttachmentDefinitions', () => readNetworks(kubernetes)),
      attempt('Subnets', () => readSubnets(kubernetes)),
      attempt('Lease', async () => [
        await observeLease(kubernetes, { namespace, name: 'ipledger-pod-watcher' }, signal),
      ]),
      attempt('backups', () => readBackup(kubernetes, namespace)),
      attempt('stored checkpoints', () => readNewestCheckpoint(kubernetes, namespace)),
    ]);
  return {
    warnings,
    sandboxFailures,
    workloads,
    definitions,
    permissions,
    networks,
    subnets,
    leases,
    backup,
    newestAt,
  };
}
