/**
 * Waits until OVN has connected a port: ovn-controller sets `ovn-installed` when the flows of the
 * port are in the switch. At a timeout the error has the reason and the remedy.
 */
import { textMap } from '../../../lib/ovsdb/values.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import type { RetryLimit } from '../../../lib/process/retry.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { DataPathError } from './data-path-error.ts';
import type { NicPlan } from './nic-plan.ts';
import type { ReadSouthbound, SouthboundFacts } from './southbound.ts';

const diagnosisMs = 1_000;

export interface InstallWaitDeps {
  readonly ovs: OvsDatabase;
  readonly node: string;
  readonly readSouthbound: ReadSouthbound;
}

/**
 * Resolves when the port is connected and, on a physical network, its patch port exists.
 * @throws DataPathError installed with the cause, at most a moment before the limit
 */
export async function waitUntilInstalled(deps: InstallWaitDeps, plan: NicPlan, limit: RetryLimit): Promise<void> {
  const { ovs } = deps;
  const { until, signal } = limit;
  const waitSignal = timeoutSignal(until - diagnosisMs - performance.now(), signal);
  const isComplete = (): true | undefined =>
    (isInstalled(ovs, plan) && missingPatch(ovs, plan) === undefined) || undefined;
  try {
    await ovs.when(isComplete, waitSignal);
  } catch (error) {
    if (!waitSignal.aborted) throw error;
    const cause = await diagnose(deps, plan, Math.max(1, Math.min(diagnosisMs, until - performance.now())));
    throw new DataPathError(
      'installed',
      `OVN has not connected interface ${plan.interface} of pod ${plan.pod.namespace}/${plan.pod.name}: ${cause}`,
      { cause: error },
    );
  }
}

const isInstalled = (ovs: OvsDatabase, { hostLink }: NicPlan): boolean =>
  textMap(ovs.named('Interface', hostLink)?.row['external_ids']).get('ovn-installed') === 'true';

const missingPatch = (ovs: OvsDatabase, { localnetPatch }: NicPlan): string | undefined =>
  localnetPatch === undefined || ovs.named('Port', localnetPatch) ? undefined : localnetPatch;

async function diagnose(
  { ovs, node, readSouthbound }: InstallWaitDeps,
  plan: NicPlan,
  timeoutMs: number,
): Promise<string> {
  const { hostLink, logicalPort } = plan;
  const row = ovs.named('Interface', hostLink)?.row;
  if (!row) return `another program removed port ${hostLink}. Run: ovs-vsctl show`;
  if (!ovs.isConnected) return `the connection to the Open vSwitch database ended: start ovsdb-server`;
  const ids = textMap(ovs.root()?.row['external_ids']);
  const query = { remote: ids.get('ovn-remote') ?? '', systemId: ids.get('system-id') ?? '', logicalPort, timeoutMs };
  return diagnoseInstall({
    node,
    logicalPort,
    hostLink,
    interfaceError: typeof row['error'] === 'string' ? row['error'] : '',
    isInstalled: isInstalled(ovs, plan),
    missingPatch: missingPatch(ovs, plan),
    southbound: await readSouthbound(query),
  });
}

export interface InstallFacts {
  readonly node: string;
  readonly logicalPort: string;
  readonly hostLink: string;
  /** The error of the Interface row; '' if there is none. */
  readonly interfaceError: string;
  readonly isInstalled: boolean;
  /** The missing localnet patch port; undefined if none is missing. */
  readonly missingPatch: string | undefined;
  /** The facts, or the reason why the southbound database cannot be read. */
  readonly southbound: SouthboundFacts | { readonly unreadable: string };
}

/** Returns one sentence about the cause, and a command. */
export function diagnoseInstall(facts: InstallFacts): string {
  const { node, logicalPort, hostLink, interfaceError, southbound } = facts;
  if (interfaceError !== '')
    return `OVS cannot use ${hostLink}: ${interfaceError}. Run: ovs-vsctl get interface ${hostLink} error`;
  if (facts.isInstalled && facts.missingPatch !== undefined)
    return `the port is installed, but ${facts.missingPatch} is missing: map the physical network to a bridge. Run: ovs-vsctl get open_vswitch . external_ids:ovn-bridge-mappings`;
  if ('unreadable' in southbound)
    return `OVN did not install it, and the southbound database could not be read (${southbound.unreadable}). Run: ovn-appctl -t ovn-controller connection-status; ovn-sbctl find port_binding logical_port=${logicalPort}`;
  if (southbound.ownChassis === undefined)
    return `OVN has no chassis row for node ${node}: start ovn-controller. Run: ovn-appctl -t ovn-controller connection-status`;
  if (!southbound.hasPort)
    return `OVN has no logical port ${logicalPort}: read the logs of ovn-projector and ovn-northd. Run: ovn-nbctl lsp-get-options ${logicalPort}`;
  const requested = southbound.requestedChassis.split(',');
  if (southbound.requestedChassis !== '' && !requested.includes(node) && !requested.includes(southbound.ownChassis))
    return `its requested-chassis is ${southbound.requestedChassis}, not ${node}: the Pod is bound on another node. Run: kubectl ipledger why`;
  if (southbound.chassis === southbound.ownChassis)
    return `ovn-controller has claimed the port, and has not installed its flows: read its log. Run: ovn-appctl -t ovn-controller connection-status`;
  return `ovn-controller has not claimed the port: check that it runs and is connected. Run: ovn-appctl -t ovn-controller connection-status`;
}
