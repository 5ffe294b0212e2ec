/**
 * The parts of the agent that make and end bindings: the handler of the plugin's requests, and
 * background work that ends bindings without a DEL. They need no socket and no Open vSwitch.
 */
import type { Connection } from '../../lib/grpc/calls.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Tracer } from '../../lib/tracing/tracer.ts';
import { createBindingClient } from './bindings/binding-client.ts';
import { openBindingFiles, type ContainerInterface, interfaceKey } from './bindings/binding-files.ts';
import { DeletedSandboxes } from './bindings/deleted-sandboxes.ts';
import type { LedgerEpoch } from './bindings/ledger-epoch.ts';
import { createEarlierBoots } from './bindings/earlier-boots.ts';
import { LingeringBindings } from './bindings/lingering-bindings.ts';
import { restoreBindingsForever } from './bindings/restored-bindings.ts';
import type { KeyedMutex } from './concurrency/keyed-mutex.ts';
import type { DataPath } from './data-path/data-path.ts';
import type { KubernetesGet, ObjectReader } from './kubernetes/object-reader.ts';
import { createOvn4nfvLookup, createPodLookup } from './kubernetes/pod-lookup.ts';
import { createPodWarningReader } from './kubernetes/pod-warning.ts';
import type { AddressProbe } from './requests/address-probe.ts';
import { del, type DelDeps } from './requests/del.ts';
import { containerKey, type ContainerNicsDeps, delNics, isOvn4nfvType, type OneNic } from './requests/ovn4nfv-nics.ts';
import { replayPendingDelsForever, type ReplayOptions } from './requests/pending-del-replay.ts';
import { hasPendingDel } from './requests/pending-dels.ts';
import { createRequestHandler, type RequestHandlerDeps } from './requests/request-handler.ts';
import type { Sandbox } from './requests/sandbox.ts';

export interface BindingPartsOptions {
  readonly node: string;
  readonly bootId: string;
  /** The folders of binding files and of pending DELs. */
  readonly bindings: string;
  readonly pendingDels: string;
  /** The paths of the agent's sockets. */
  readonly sockets: readonly [string, ...string[]];
  readonly connection: Connection;
  readonly epoch: LedgerEpoch;
  readonly get: KubernetesGet;
  readonly read: ObjectReader;
  readonly sandbox: Sandbox;
  readonly probe: AddressProbe;
  /** Counts conflicts that probes find. */
  readonly onConflict?: RequestHandlerDeps['onConflict'];
  readonly runExclusive: KeyedMutex;
  /** Makes NICs and sweeps their ports; absent: the agent makes no NICs. */
  readonly nics?: { readonly dataPath: DataPath; readonly sweep: RequestHandlerDeps['sweepPorts'] } | undefined;
  readonly tracer?: Tracer | undefined;
  readonly log: Logger;
}

/** Reads the binding files. `run` works until its signal is aborted. */
export async function openBindingParts(options: BindingPartsOptions) {
  const { node, bootId, sockets, connection, epoch, get, read, runExclusive, nics, tracer, log } = options;
  const allocator = createBindingClient(connection, epoch);
  const files = await openBindingFiles({ folder: options.bindings, node, bootId, log });
  const shared = { allocator, node, bootId, files, runExclusive, log };
  const lingering = new LingeringBindings(shared);
  const sandboxes = new DeletedSandboxes(shared);
  const earlierBoots = createEarlierBoots(shared, bootId);
  const handleRequest = createRequestHandler({
    ...shared,
    lookUpPod: createPodLookup(get),
    lookUpOvn4nfv: createOvn4nfvLookup(read),
    readPodWarning: createPodWarningReader(get),
    sandbox: options.sandbox,
    probe: options.probe,
    onConflict: options.onConflict,
    tracer,
    earlierBoots,
    lingering,
    dataPath: nics?.dataPath,
    sweepPorts: nics?.sweep,
    pendingDels: { folder: options.pendingDels, socket: sockets[0] },
  });
  const replayDel = createReplayDel({ ...shared, dataPath: nics?.dataPath, lingering });
  const isDelPending = (container: ContainerInterface): boolean => hasPendingDel(options.pendingDels, container);
  return {
    handleRequest,
    sandboxes,
    run: (signal: AbortSignal) =>
      Promise.all([
        earlierBoots.endBindings(signal),
        lingering.settleForever(signal),
        sandboxes.lookForever(signal),
        restoreBindingsForever({ ...shared, epoch, hasPendingDel: isDelPending }, signal),
        replayPendingDelsForever({ folder: options.pendingDels, sockets, del: replayDel, log }, signal),
      ]),
  };
}

/** Replays a DEL of one NIC, or of all NICs of an OVN4NFV request. */
function createReplayDel(deps: ContainerNicsDeps & DelDeps & Pick<RequestHandlerDeps, 'runExclusive'>) {
  const { runExclusive } = deps;
  const delNic: OneNic<void> = (nic, signal) => runExclusive(interfaceKey(nic), signal, () => del(deps, nic, signal));
  const replay: ReplayOptions['del'] = (request, isPending, signal) => {
    const isForContainer = isOvn4nfvType(request.cniType);
    return runExclusive(isForContainer ? containerKey(request) : interfaceKey(request), signal, async () => {
      if (!isPending()) return;
      await (isForContainer ? delNics({ ...deps, delNic }, request, signal) : del(deps, request, signal));
    });
  };
  return replay;
}
