/** Dispatches plugin requests by verb. Requests of one container run in order of arrival. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { TraceContext } from '../../../lib/tracing/trace-context.ts';
import { add, type AddDeps, requireDataPath } from './add.ts';
import type { RequestHandler } from '../daemon/daemon-server.ts';
import { interfaceKey } from '../bindings/binding-files.ts';
import { check } from './check.ts';
import { del } from './del.ts';
import { gc, type GcDeps } from './gc.ts';
import { addNics, containerKey, delNics, isOvn4nfvType, nicsOfContainer, type OneNic } from './ovn4nfv-nics.ts';
import { removePendingDel, savePendingDel } from './pending-dels.ts';
import type { EarlierBoots } from '../bindings/earlier-boots.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import type { Ovn4nfvLookup } from '../kubernetes/pod-lookup.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';

export interface RequestHandlerDeps extends AddDeps {
  readonly lookUpOvn4nfv: Ovn4nfvLookup;
  readonly runExclusive: KeyedMutex;
  readonly earlierBoots: EarlierBoots;
  /** Removes the OVS ports of deleted sandboxes; absent: the agent makes no NICs. */
  readonly sweepPorts?: GcDeps['sweepPorts'];
  /** The folder of pending DELs, and the socket that marks a file as this agent's. */
  readonly pendingDels: { readonly folder: string; readonly socket: string };
}

export const createRequestHandler =
  (deps: RequestHandlerDeps): RequestHandler =>
  async (pluginRequest, signal) => {
    if ('request' in pluginRequest && isOvn4nfvType(pluginRequest.request.cniType))
      return handleOvn4nfv(deps, pluginRequest, signal);
    switch (pluginRequest.verb) {
      case 'add': {
        const { request, runtimeTrace } = pluginRequest;
        return deps.runExclusive(interfaceKey(request), signal, () => handleAdd(deps, request, signal, runtimeTrace));
      }
      case 'del': {
        const { request } = pluginRequest;
        await deps.runExclusive(interfaceKey(request), signal, () => handleDel(deps, request, signal));
        return '';
      }
      case 'check':
        await check(deps, pluginRequest, signal);
        return '';
      case 'gc':
        await gc(deps, pluginRequest, signal);
        return '';
      case 'status':
        if (pluginRequest.cniType === 'kube-ovn' || isOvn4nfvType(pluginRequest.cniType))
          await requireDataPath(deps).assertReady(signal);
        await status(deps.allocator, deps.node, signal);
        return '';
    }
  };

type ContainerRequest = Extract<Parameters<RequestHandler>[0], { readonly request: CniRequest }>;

/** Locks the container, and each of its NICs: other parts of the agent lock single NICs. */
async function handleOvn4nfv(
  deps: RequestHandlerDeps,
  pluginRequest: ContainerRequest,
  signal: AbortSignal,
): Promise<string> {
  const { request } = pluginRequest;
  const delNic: OneNic<void> = (nic, nicSignal) =>
    deps.runExclusive(interfaceKey(nic), nicSignal, () => handleDel(deps, nic, nicSignal));
  return deps.runExclusive(containerKey(request), signal, async () => {
    switch (pluginRequest.verb) {
      case 'add': {
        requireDataPath(deps);
        const addNic: OneNic<string> = (nic, nicSignal) =>
          deps.runExclusive(interfaceKey(nic), nicSignal, () =>
            handleAdd(deps, nic, nicSignal, pluginRequest.runtimeTrace),
          );
        const body = await addNics({ ...deps, addNic, delNic }, request, signal);
        await removePendingDel(deps.pendingDels.folder, request);
        return body;
      }
      case 'del':
        await saveOnTransientFailure(deps, request, signal, () => delNics({ ...deps, delNic }, request, signal));
        return '';
      case 'check': {
        const nics = await nicsOfContainer(deps, request, signal);
        for (const nic of nics) await check(deps, { ...pluginRequest, request: nic }, signal);
        if (nics.length === 0)
          throw new IpledgerError('CHECK_FAILED', `container ${request.containerId} has no NIC: delete the Pod`);
        return '';
      }
    }
  });
}

/** Runs an ADD. An older binding or pending DEL of the container must not end the new binding. */
async function handleAdd(
  deps: RequestHandlerDeps,
  request: CniRequest,
  signal: AbortSignal,
  runtimeTrace: TraceContext | undefined,
): Promise<string> {
  const body = await add(deps, request, signal, runtimeTrace);
  deps.earlierBoots.exclude(request);
  await removePendingDel(deps.pendingDels.folder, request);
  return body;
}

const handleDel = (deps: RequestHandlerDeps, request: CniRequest, signal: AbortSignal): Promise<void> =>
  saveOnTransientFailure(deps, request, signal, () => del(deps, request, signal));

/** Saves a DEL that cannot be done now, and succeeds, so that the Pod can be deleted. */
async function saveOnTransientFailure(
  { pendingDels, log }: Pick<RequestHandlerDeps, 'pendingDels' | 'log'>,
  request: CniRequest,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (IpledgerError.from(error).kind !== 'transient' || signal.aborted) throw error;
    await savePendingDel(pendingDels.folder, pendingDels.socket, request);
    log.warn(
      { err: error, containerId: request.containerId },
      'DEL: the allocator or the Open vSwitch database is unavailable; saved as a pending DEL',
    );
  }
}

// The time limit of a STATUS: shorter than that of the plugin, 10 s, and not shorter than a
// failover, because a failed STATUS makes the node NotReady.
const statusMs = 8_000;
const attemptMs = 2_000;

/**
 * Sends an Unbind of a binding that cannot exist. It writes nothing and costs little, and like a
 * Bind only the writer answers it, after a read of etcd. A full Subnet does not fail it, because it
 * must not take the node out of service.
 * @throws IpledgerError when the allocator is unavailable
 */
export async function status(allocator: BindingClient, node: string, signal: AbortSignal): Promise<void> {
  const probe = {
    namespace: 'none',
    pod: 'none',
    provider: 'none',
    containerId: `status-of-${node}`,
    interface: 'none',
  };
  try {
    await retryUntil(retryFor(statusMs, signal), (remainingMs) =>
      allocator.unbind(probe, { timeoutMs: Math.min(remainingMs, attemptMs), signal }),
    );
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    throw new IpledgerError(error.code, `the allocator is unavailable: ${error.message}`, { cause: error });
  }
}
