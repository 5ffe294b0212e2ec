/** Waits until OVN has connected a port: ovn-controller sets `ovn-installed` when the flows of the port are in the switch. */
import { textMap } from '../../../lib/ovsdb/values.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import type { RetryLimit } from '../../../lib/process/retry.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { DataPathError } from './data-path-error.ts';
import { diagnoseInstall } from './install-diagnosis.ts';
import type { NicPlan } from './nic-plan.ts';
import type { ReadSouthbound } from './southbound.ts';

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
