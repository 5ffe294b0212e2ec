/** Keeps the bridges of this node's physical networks as the ProviderNetworks describe them. */
import { errorMessage } from '../../../lib/errors.ts';
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import { ifPresent } from '../../../lib/kubernetes/client/api-error.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { KubernetesGet } from '../kubernetes/object-reader.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { type NodeLink, readNodeLinks, setLinkUp } from './node-links.ts';
import { presentUnderlay, planUnderlay, type UnderlayPlan } from './underlay-plan.ts';
import { parseProviderNetwork, type ProviderNetwork } from './provider-network.ts';
import { underlayOperations } from './underlay-operations.ts';

/** Reads from the watch cache of the API server, which costs its etcd nothing. */
const listPath = '/apis/kubeovn.io/v1/provider-networks?resourceVersion=0';
const readTimeoutMs = 10_000;
const connectTimeoutMs = 10_000;
const intervalMs = 15_000;
const maxNetworks = 256;

export interface UnderlayOptions {
  readonly ovs: Pick<OvsDatabase, 'ready' | 'root' | 'rows' | 'transact'>;
  readonly get: KubernetesGet;
  /** The node's name in Kubernetes. */
  readonly node: string;
  readonly log: Logger;
  /** Reads and sets up links; default: in the agent's own network namespace. */
  readonly links?: {
    readonly read: (signal: AbortSignal) => Promise<readonly NodeLink[]>;
    readonly setUp: (name: string, signal: AbortSignal) => Promise<void>;
  };
}

/** The numbers of served and refused networks on this node; undefined before the first read. */
export interface UnderlayStatus {
  readonly served: number;
  readonly refused: number;
}

export class UnderlayKeeper {
  readonly #options: UnderlayOptions;
  /** The last logged problem of each network, to log each problem once. */
  #logged = new Map<string, string>();
  #status: UnderlayStatus | undefined;

  constructor(options: UnderlayOptions) {
    this.#options = options;
  }

  get status(): UnderlayStatus | undefined {
    return this.#status;
  }

  /** Compares and repairs at intervals, until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    let failure = '';
    while (!signal.aborted) {
      try {
        await this.reconcile(signal);
        failure = '';
      } catch (error) {
        if (signal.aborted) return;
        const reason = errorMessage(error);
        if (reason !== failure) log.warn({ reason }, 'physical networks: the node could not be compared, retrying');
        failure = reason;
      }
      await pause(intervalMs, signal);
    }
  }

  /**
   * Compares once, and writes one transaction if something differs.
   * @throws ApiError, OvsdbError, IpledgerError DATA_PATH_FAILED; the next attempt may succeed
   * after any of them
   */
  async reconcile(signal: AbortSignal): Promise<UnderlayPlan | undefined> {
    const { ovs, links = { read: readNodeLinks, setUp: setLinkUp } } = this.#options;
    const networks = await this.#readNetworks(signal);
    if (!networks) return undefined;
    await ovs.ready(timeoutSignal(connectTimeoutMs, signal));
    const root = ovs.root();
    if (!root) throw new Error('the Open vSwitch database has no row: run `ovs-vsctl init` on this node');
    const present = presentUnderlay(root, (table) => ovs.rows(table));
    // Skips the list of links on a node without physical networks.
    const nodeLinks = networks.some(({ nic }) => nic !== undefined) ? await links.read(signal) : [];
    const plan = planUnderlay({ networks, links: nodeLinks, present });
    if (plan.changes.length > 0) await ovs.transact(underlayOperations(root, plan.changes));
    for (const nic of plan.linksDown) await links.setUp(nic, signal);
    this.#report(plan);
    return plan;
  }

  /** Reads the ProviderNetworks; undefined if the cluster has no such resource. */
  async #readNetworks(signal: AbortSignal): Promise<ProviderNetwork[] | undefined> {
    const { get, node } = this.#options;
    const list = await ifPresent(get(listPath, { timeoutMs: readTimeoutMs, signal }));
    if (list === undefined) return undefined;
    const { items } = asRecord(list);
    if (!Array.isArray(items)) throw new Error('the Kubernetes API sent no list of ProviderNetworks');
    if (items.length > maxNetworks) throw new Error(`the cluster has more than ${maxNetworks} ProviderNetworks`);
    return items.map((item) => parseProviderNetwork(item, node));
  }

  #report({ changes, refusals, served }: UnderlayPlan): void {
    const { log, node } = this.#options;
    this.#status = { served: served.length, refused: refusals.length };
    for (const { network, problem } of refusals)
      if (this.#logged.get(network) !== problem)
        log.warn({ network, node }, `ProviderNetwork ${network} is not available on this node: ${problem}`);
    this.#logged = new Map(refusals.map(({ network, problem }) => [network, problem]));
    if (changes.length > 0)
      log.info(
        { changes: changes.map(({ kind }) => kind), served },
        'physical networks: the bridges of this node changed',
      );
  }
}
