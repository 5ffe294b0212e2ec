/**
 * The NICs of type kube-ovn on this node: veth pairs whose end on the node is a port of OVN's
 * integration bridge. OVN connects it to the logical port of the allocation, which the
 * ovn-projector creates.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { rejectWhenAborted, timeoutSignal } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type RetryLimit, retryUntil } from '../../../lib/process/retry.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { ContainerInterface } from '../bindings/binding-files.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import type { ObjectReader } from '../kubernetes/object-reader.ts';
import type { OvsDatabase, OvsRow } from '../ovs/ovs-database.ts';
import { DataPathError, type FailureReason } from './data-path-error.ts';
import type { DataPathMetrics } from './data-path-metrics.ts';
import { readLinkNames } from './host-link.ts';
import { waitUntilInstalled } from './install-wait.ts';
import { type AddressMtu, overlayMtu, underlayMtu } from './nic-mtu.ts';
import { type NicPlan, planNic } from './nic-plan.ts';
import { type NicSettings, readNicSettings } from './nic-settings.ts';
import {
  deleteQosOperations,
  insertPortOperations,
  ownedPorts,
  hostLinksOf,
  portsOf,
  rejectLinkInUse,
  removePortOperations,
} from './ovs-port.ts';
import type { PodLinks } from './pod-links.ts';
import type { ReadSouthbound } from './southbound.ts';
import { textMap } from '../../../lib/ovsdb/values.ts';

const connectMs = 2_000;
const applyMs = 5_000;
const undoMs = 1_500;
const detachMs = 3_000;
/** The interval of two announcements (RFC 5227, section 1.1, ANNOUNCE_INTERVAL). */
const announceIntervalMs = 2_000;
const announceMs = 5_000;

/** The data about a NIC for the response to ADD. */
export interface Nic {
  readonly mac: string;
  readonly mtu: number;
  readonly hostLink: string;
}

export interface DataPathDeps {
  readonly ovs: OvsDatabase;
  /** Name of the integration bridge. */
  readonly bridge: string;
  readonly node: string;
  readonly read: ObjectReader;
  readonly links: PodLinks;
  readonly mtuOf: AddressMtu;
  readonly readSouthbound: ReadSouthbound;
  readonly metrics: DataPathMetrics;
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export class DataPath {
  readonly #deps: DataPathDeps;
  /** The transactions that insert a port and have no answer yet, by host link. */
  readonly #insertions = new Map<string, Promise<unknown>>();

  constructor(deps: DataPathDeps) {
    this.#deps = deps;
  }

  /**
   * Makes the NIC of an allocation that is bound to the request's container. Removes a NIC that
   * fails.
   * @throws IpledgerError DATA_PATH_FAILED, SANDBOX_FAILED, or CANCELLED when the caller
   * disconnects
   */
  async attach(request: CniRequest, allocation: Allocation, limit: RetryLimit): Promise<Nic> {
    const signal = timeoutSignal(limit.until - performance.now(), limit.signal);
    try {
      const bridge = await this.#connect(signal);
      const plan = await this.#plan(request, allocation, { ...limit, signal });
      rejectLinkInUse(this.#deps.ovs, plan);
      return await this.#undoOnFailure(plan, () => this.#make(plan, bridge, { until: limit.until, signal }));
    } catch (error) {
      if (limit.signal.aborted) throw new IpledgerError('CANCELLED', 'the caller disconnected', { cause: error });
      this.#deps.metrics.failed(reasonOf(error));
      throw error;
    }
  }

  /**
   * Removes the NIC of a container: port, QoS rows and link. Idempotent.
   * @throws IpledgerError UNAVAILABLE when the database is unreachable, for a retry;
   * DATA_PATH_FAILED
   */
  async detach(container: ContainerInterface, callerSignal: AbortSignal): Promise<void> {
    const signal = timeoutSignal(detachMs, callerSignal);
    const { ovs, links } = this.#deps;
    const names = hostLinksOf(ovs, container);
    // Removes the link also while the database is unreachable.
    const outcomes = await Promise.allSettled([
      this.#removePorts(container, signal),
      ...names.map((name) => links.remove(name, signal)),
    ]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** The interfaces of a container whose NIC has a provider and, by the replica, a port. */
  interfacesOf(containerId: string, provider: string): string[] {
    const ports = ownedPorts(this.#deps.ovs);
    return ports
      .filter((port) => port.containerId === containerId && port.provider === provider)
      .map(({ interface: name }) => name);
  }

  /**
   * Compares port and link with the allocation. Returns the differences.
   * @throws IpledgerError UNAVAILABLE when the database cannot be reached
   */
  async findFaults(container: ContainerInterface, logicalPort: string, signal: AbortSignal): Promise<string[]> {
    await this.#requireConnection(signal);
    const [port] = portsOf(this.#deps.ovs, container);
    if (!port) return ['there is no OVS port for it'];
    const faults: string[] = [];
    if (port.logicalPort !== logicalPort)
      faults.push(`iface-id of ${port.name} is ${port.logicalPort}, not ${logicalPort}`);
    if (port.error !== '') faults.push(`OVS cannot use ${port.name}: ${port.error}`);
    if (!(await readLinkNames()).has(port.name)) faults.push(`there is no link ${port.name} on the node`);
    return faults;
  }

  /** @throws IpledgerError DATA_PATH_FAILED if no NIC can be made now */
  async assertReady(signal: AbortSignal): Promise<void> {
    await this.#connect(signal);
  }

  async #connect(signal: AbortSignal): Promise<OvsRow> {
    const { ovs, node, bridge } = this.#deps;
    await ovs.ready(timeoutSignal(connectMs, signal));
    return requireNode(ovs, { node, bridge });
  }

  /** Rejects with an error that requests a retry while there is no connection. */
  async #requireConnection(signal: AbortSignal): Promise<void> {
    await this.#deps.ovs.ready(timeoutSignal(connectMs, signal)).catch((error: unknown) => {
      throw new IpledgerError('UNAVAILABLE', IpledgerError.from(error).message, { cause: error });
    });
  }

  async #plan(request: CniRequest, allocation: Allocation, limit: RetryLimit): Promise<NicPlan> {
    const { subnet } = allocation;
    const settings = await retryUntil(limit, () =>
      readNicSettings(this.#deps.read, { request, subnet, signal: limit.signal }),
    );
    return planNic(request, allocation, { ...settings, mtu: this.#mtu(settings) });
  }

  #mtu({ mtu, providerNetwork }: NicSettings): number {
    const { ovs, mtuOf } = this.#deps;
    if (mtu > 0) return mtu;
    return providerNetwork === '' ? overlayMtu(ovs, mtuOf) : underlayMtu(ovs, providerNetwork);
  }

  async #make(plan: NicPlan, bridge: OvsRow, limit: RetryLimit): Promise<Nic> {
    const { links, metrics } = this.#deps;
    const { signal } = limit;
    await this.#removeOlderPort(plan, signal);
    await metrics.time('veth', () => links.create(plan, signal));
    await metrics.time('port', () => this.#insertPort(plan, bridge, signal));
    await metrics.time('installed', () => waitUntilInstalled(this.#deps, plan, limit));
    const isUserspace = bridge.row['datapath_type'] === 'netdev';
    await metrics.time('inside', () => links.configure(plan, isUserspace, signal));
    if (plan.localnetPatch !== undefined) void this.#announceAgain(plan);
    const { mac, mtu, hostLink } = plan;
    return { mac, mtu, hostLink };
  }

  /**
   * Announces a NIC on a physical network a second time (RFC 5227, section 2.3). The first time,
   * ovn-controller may not have connected the physical network yet, if the NIC is its first on
   * this node: `ovn-installed` does not wait for that. Without it, neighbors keep the MAC of the
   * address's holder before.
   */
  async #announceAgain(plan: NicPlan): Promise<void> {
    const { links, signal, log } = this.#deps;
    try {
      await sleep(announceIntervalMs, undefined, { signal, ref: false });
      await links.announce(plan, timeoutSignal(announceMs, signal));
    } catch (error) {
      log.debug({ reason: errorMessage(error), hostLink: plan.hostLink }, 'not announced again: the NIC has changed');
    }
  }

  /**
   * Removes the port of an interrupted ADD before its link is created again: ovs-vswitchd would
   * keep the old link open under the same name.
   */
  async #removeOlderPort({ hostLink }: NicPlan, signal: AbortSignal): Promise<void> {
    const { ovs } = this.#deps;
    const older = ovs.named('Interface', hostLink);
    if (!older) return;
    await ovs
      .apply(removePortOperations(ovs, older.uuid, older.row), timeoutSignal(applyMs, signal))
      .catch((error: unknown) => {
        throw new DataPathError(
          'port',
          `ovs-vswitchd has not removed the older port ${hostLink}: start it, or read its log`,
          { cause: error },
        );
      });
  }

  async #insertPort(plan: NicPlan, bridge: OvsRow, signal: AbortSignal): Promise<void> {
    const { ovs } = this.#deps;
    const { hostLink } = plan;
    const insertion = ovs
      .transact(insertPortOperations(ovs, bridge.uuid, plan))
      .finally(() => this.#insertions.delete(hostLink));
    this.#insertions.set(hostLink, insertion);
    await rejectWhenAborted(insertion, signal).catch((error: unknown) => {
      const message = `adding port ${hostLink} to the Open vSwitch database failed: ${IpledgerError.from(error).message}`;
      throw new DataPathError('port', message, { cause: error });
    });
  }

  async #undoOnFailure<T>(plan: NicPlan, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      await this.#undo(plan, AbortSignal.timeout(undoMs)).catch((error: unknown) => {
        this.#deps.log.warn(
          { err: error, containerId: plan.containerId, interface: plan.interface },
          'ADD failed, and so did the removal of its NIC; the DEL removes it',
        );
      });
      throw thrown;
    }
  }

  async #undo(plan: NicPlan, signal: AbortSignal): Promise<void> {
    // The replica has no port yet whose insertion was sent before the ADD was aborted.
    const insertion = this.#insertions.get(plan.hostLink)?.catch(() => undefined);
    if (insertion) await rejectWhenAborted(insertion, signal);
    await this.detach(plan, signal);
  }

  async #removePorts(container: ContainerInterface, signal: AbortSignal): Promise<void> {
    await this.#requireConnection(signal);
    const { ovs } = this.#deps;
    const operations = portsOf(ovs, container).flatMap(({ uuid }) =>
      removePortOperations(ovs, uuid, ovs.rows('Interface').get(uuid)),
    );
    try {
      await rejectWhenAborted(ovs.transact([...operations, ...deleteQosOperations(container)]), signal);
    } catch (error) {
      const message = `removing the OVS port of container ${container.containerId} failed: ${String(error)}`;
      throw new IpledgerError('UNAVAILABLE', message, { cause: error });
    }
  }
}

/** Returns the part that failed, also for errors that other parts of the agent throw. */
function reasonOf(error: unknown): FailureReason {
  if (error instanceof DataPathError) return error.reason;
  const { code } = IpledgerError.from(error);
  if (code === 'SANDBOX_FAILED') return 'veth';
  return code === 'UNAVAILABLE' || code === 'PERMISSION_DENIED' ? 'settings' : 'database';
}

/**
 * Checks that OVN runs on this node under the node's name. Returns the row of the integration
 * bridge.
 *
 * OVN accepts a port on this node only if `requested-chassis`, which is the Kubernetes name of the
 * node, is the chassis' name (`system-id`) or its hostname (ovn-nb(5), Logical_Switch_Port
 * options).
 * @throws DataPathError node
 */
export function requireNode(
  ovs: Pick<OvsDatabase, 'named' | 'root'>,
  { node, bridge }: { readonly node: string; readonly bridge: string },
): OvsRow {
  const ids = textMap(ovs.root()?.row['external_ids']);
  const [systemId, hostname] = [ids.get('system-id') ?? '', ids.get('hostname') ?? ''];
  if (systemId !== node && hostname !== node)
    throw new DataPathError(
      'node',
      `OVN has this node as system-id ${systemId || '(not set)'}, hostname ${hostname || '(not set)'}, not as ${node}. Run: ovs-vsctl set open_vswitch . external_ids:hostname=${node}`,
    );
  const found = ovs.named('Bridge', bridge);
  if (found) return found;
  throw new DataPathError(
    'node',
    `OVN's bridge ${bridge} does not exist on this node: start ovn-controller, or correct --ovs-bridge`,
  );
}
