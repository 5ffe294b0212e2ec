/** The CNI plugin as a runtime calls it: one ADD or DEL for each NIC of a sandbox. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../../lib/errors.ts';
import { asRecord, asRecords, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { parseCniRequest } from '../../../services/node-agent/daemon/plugin-request.ts';
import { savePendingDel } from '../../../services/node-agent/requests/pending-dels.ts';
import { callAgent, NoAgent, socketOf } from './agent-program.ts';
import { checkFilesAfterDel } from './node-files.ts';
import type { SandboxRecord, SimulatedNode } from './node.ts';

const addTimeoutMs = 30_000;
const delTimeoutMs = 10_000;
/** An ADD waits this long for an agent, and a DEL. */
const addWaitMs = 40_000;
const delWaitMs = 2_000;
const dialMs = 500;

export type NicRequest = SandboxRecord['nics'][number];

export const providerOf = (network: string): string => `${network}.default`;

interface AddedPod {
  /** The name and uid in the ledger, for the record of what uses an address. */
  readonly ledger: { readonly name: string; readonly uid: string; readonly isMachine: boolean };
  readonly macs: ReadonlyMap<string, string>;
}

/** Returns whether the NIC has its addresses. */
export async function pluginAdd(
  node: SimulatedNode,
  sandbox: SandboxRecord,
  nic: NicRequest,
  { ledger, macs }: AddedPod,
): Promise<boolean> {
  const body = wireOf(node, sandbox, nic);
  const reply = await untilAnswered(node, 'add', body, { waitMs: addWaitMs, timeoutMs: addTimeoutMs });
  if (reply === undefined) return false;
  const addresses = asRecords(asRecord(JSON.parse(reply))['ips']).map(({ ip }) => asText(ip));
  const container = { containerId: sandbox.id, interface: nic.interface };
  // The other container may answer a probe, so none is sent
  if (!node.bindings.isShared(container, providerOf(nic.network), addresses))
    node.foreignHosts.checkUse(node.namespacePath(sandbox.id), nic.interface, addresses);
  node.nics.add({
    node: node.name,
    containerId: sandbox.id,
    interface: nic.interface,
    pod: `${sandbox.namespace}/${ledger.name}`,
    uid: ledger.uid,
    isMachine: ledger.isMachine,
    provider: providerOf(nic.network),
    addresses,
    mac: macs.get(`${node.namespacePath(sandbox.id)} ${nic.interface}`) ?? '',
  });
  return true;
}

/** Returns whether the DEL succeeded. Without an agent it is saved, and succeeds. */
export async function pluginDel(node: SimulatedNode, sandbox: SandboxRecord, nic: NicRequest): Promise<boolean> {
  const { name } = node;
  node.nics.remove((each) => each.node === name && each.containerId === sandbox.id && each.interface === nic.interface);
  const body = wireOf(node, sandbox, nic);
  try {
    const reply = await untilAnswered(node, 'del', body, { waitMs: delWaitMs, timeoutMs: delTimeoutMs });
    if (reply === undefined) return false;
  } catch (error) {
    if (!(error instanceof NoAgent)) throw error;
    await savePendingDel(node.pendingDelFiles, socketOf(node), parseCniRequest('del', body));
  }
  if (sandbox.boot === node.boot) checkFilesAfterDel(node, { containerId: sandbox.id, interface: nic.interface });
  return true;
}

/** A network namespace of an earlier boot is gone, and so is its path. */
function wireOf(node: SimulatedNode, sandbox: SandboxRecord, nic: NicRequest): string {
  return JSON.stringify({
    cni_type: 'macvlan',
    pod_name: sandbox.name,
    pod_namespace: sandbox.namespace,
    container_id: sandbox.id,
    net_ns: sandbox.boot === node.boot ? node.namespacePath(sandbox.id) : '',
    if_name: nic.interface,
    provider: providerOf(nic.network),
    pod_uid: sandbox.uid,
  });
}

/**
 * Sends a request to the agent of this moment, and again if it ends before it answers.
 * @returns undefined when the agent refuses
 * @throws NoAgent for a DEL
 */
async function untilAnswered(
  node: SimulatedNode,
  verb: 'add' | 'del',
  body: string,
  { waitMs, timeoutMs }: { readonly waitMs: number; readonly timeoutMs: number },
): Promise<string | undefined> {
  const until = performance.now() + waitMs;
  const { kubelet } = node;
  for (;;) {
    if (!kubelet) throw new Error('a plugin runs on a node without kubelet');
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return await callAgent(kubelet, node, { verb, body }, timeout.signal);
    } catch (error) {
      const isOver = timeout.signal.aborted || performance.now() >= until;
      if (error instanceof NoAgent && verb === 'del' && (isOver || error.message === 'connection reset')) throw error;
      if (!(error instanceof NoAgent) || isOver) {
        node.world.trace(`${verb} on ${node.name} fails: ${errorMessage(error)}`);
        return undefined;
      }
    } finally {
      clearTimeout(timer);
    }
    await sleep(dialMs);
  }
}
