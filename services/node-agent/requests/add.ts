/**
 * CNI ADD: waits for the allocation and binds it to the container in one call, prepares the
 * sandbox, then responds. It uses no cache: while the allocator is unavailable ADD waits, and at
 * its deadline it fails with the cause.
 */
import { isIPv6 } from 'node:net';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { launcherPrefix } from '../../../lib/kubernetes/pod-identity.ts';
import { isOvnProvider } from '../../../lib/kubernetes/served-network.ts';
import { allocationAttributes, podAttributes, type Span } from '../../../lib/tracing/span.ts';
import type { TraceContext } from '../../../lib/tracing/trace-context.ts';
import type { Tracer } from '../../../lib/tracing/tracer.ts';
import type { Allocation, Route } from '../../../proto/generated/ipledger.ts';
import { isFaultOfPod, notAllocatedError } from '../daemon/cni-error.ts';
import { type BindingClient, type BindResult, mayBeExecuted } from '../bindings/binding-client.ts';
import type { BindingFiles, SavedBinding } from '../bindings/binding-files.ts';
import { bindingThatServed, type BindTarget, type LingeringBindings } from '../bindings/lingering-bindings.ts';
import { type RetryLimit, retryFor, retryUntil } from '../../../lib/process/retry.ts';
import type { DataPath } from '../data-path/data-path.ts';
import type { PodLookup } from '../kubernetes/pod-lookup.ts';
import { locateNamespace } from '../network-namespace.ts';
import type { AddressConflict } from './address-probe.ts';
import {
  afterConflicts,
  type ConflictDeps,
  maxConflicts,
  probeAndReport,
  tooManyConflicts,
} from './report-conflict.ts';
import type { Sandbox } from './sandbox.ts';
import type { PodWarningReader } from '../kubernetes/pod-warning.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import { formatAddResponse, defaultRouteFamily, findRouteFault, mergeRoutes } from '../daemon/cni-response.ts';

// The sum of these times stays below 30 s, when the plugin times out.
const waitMs = 20_000;
/** The delay of the check for a wrong request, which pod-watcher shows after two seconds. */
const defaultFaultCheckMs = 4_000;
const bindMs = 3_000;
const sandboxMs = 4_000;
const unbindMs = 1_500;
// The time for a NIC of type kube-ovn beyond the wait. Its removal after a failure takes 1.5 s.
const nicMs = 6_000;

/** Failures whose current cause pod-watcher knows. */
const explainedByWatcher: ReadonlySet<ErrorCode> = new Set(['NOT_REQUESTED', 'PROVIDER_UNBOUND', 'NOT_ALLOCATED']);

/** The NICs of type kube-ovn on this node. */
export type NicDataPath = Pick<DataPath, 'attach' | 'detach' | 'interfacesOf' | 'findFaults' | 'assertReady'>;

export interface AddDeps extends ConflictDeps {
  readonly allocator: BindingClient;
  readonly lookUpPod: PodLookup;
  readonly readPodWarning: PodWarningReader;
  readonly sandbox: Sandbox;
  readonly files: BindingFiles;
  readonly lingering: LingeringBindings;
  /** Makes NICs of type kube-ovn; absent: the agent makes none. */
  readonly dataPath?: NicDataPath | undefined;
  readonly node: string;
  /** The present boot of the node; bindings of earlier boots are void. */
  readonly bootId: string;
  /** The time after which a wrong request of the Pod ends the wait (default: 4 s). */
  readonly faultCheckMs?: number;
  readonly log: Logger;
  readonly tracer?: Tracer | undefined;
}

/**
 * Runs an ADD. If it fails at any point, or its caller disconnects, it leaves no binding: its DEL
 * may come late, and until then no other Pod could get the address.
 * @param signal aborted when the caller disconnects
 * @param runtimeTrace the span of the container runtime, to which the Pod's trace links
 * @returns the body of the response
 * @throws IpledgerError whose message becomes the CNI error
 */
export async function add(
  deps: AddDeps,
  request: CniRequest,
  signal: AbortSignal,
  runtimeTrace?: TraceContext,
): Promise<string> {
  const dataPath = request.cniType === 'kube-ovn' ? requireDataPath(deps) : undefined;
  const startMs = Date.now();
  const deadline = retryFor(waitMs, signal);
  const caller = await resolveCaller(deps.lookUpPod, request, deadline);
  const span = deps.tracer?.start('CNI ADD', deps.tracer.podTrace(caller.podUid), {
    kind: 'server',
    startMs,
    link: runtimeTrace,
    attributes: spanAttributes(deps, request, caller),
  });
  try {
    const body = await addFor(deps, request, { caller, deadline, span, dataPath });
    span?.end();
    return body;
  } catch (error) {
    span?.end(IpledgerError.from(error).code);
    throw error;
  }
}

function spanAttributes({ node }: AddDeps, { podNamespace, podName, ...request }: CniRequest, { podUid }: Caller) {
  return {
    ...podAttributes({ namespace: podNamespace, name: podName, uid: podUid }),
    'k8s.node.name': node,
    'container.id': request.containerId,
    'network.interface.name': request.interface,
    'ipledger.provider': request.provider,
  };
}

/** What the steps of one ADD share. */
interface AddRun {
  readonly caller: Caller;
  readonly deadline: RetryLimit;
  readonly span: Span | undefined;
  /** Makes the NIC; undefined: another plugin makes it. */
  readonly dataPath: NicDataPath | undefined;
}

async function addFor(deps: AddDeps, request: CniRequest, run: AddRun): Promise<string> {
  const { caller, deadline, span } = run;
  const { target, podUid } = caller;
  const { signal } = deadline;
  const trace = span?.context;
  const pod = { namespace: target.namespace, name: request.podName, uid: podUid };
  const readWarning = (until: AbortSignal): Promise<string> => deps.readPodWarning(pod, until);
  const throwWithCause = async (thrown: unknown): Promise<never> => {
    const error = IpledgerError.from(thrown);
    throw notAllocatedError(request, error, explainedByWatcher.has(error.code) ? await readWarning(signal) : '');
  };
  rejectInvalidRoutes(request, request.routes);
  const takenOver = await deps.lingering.takeOver(target, request.netns, signal);
  const place = locateNamespace(request.netns);
  const pending = { ...target, ...place, addresses: [], epoch: 0, boundAs: '', isDeleted: false, isPending: true };
  if (!deps.files.get(target)) await saveBinding(deps, pending);
  const conflicts: AddressConflict[] = [];
  for (let result = takenOver; ; result = undefined) {
    const { allocation, epoch, probeAddresses } =
      result ??
      (await attach(deps, pending, { ...deadline, trace, readWarning }).catch((thrown: unknown) =>
        throwWithCause(afterConflicts(conflicts, thrown)),
      ));
    const addresses = allocation.addresses.map(({ address }) => address);
    const bound = { ...pending, addresses, epoch, isPending: false };
    const { conflict, body } = await keepOrUnbindOnFailure<AddOutcome>(deps, bound, async () => {
      rejectInvalidRoutes(request, allocation.routes);
      span?.set(allocationAttributes([allocation]));
      throwIfAborted(signal);
      const probe = (until: AbortSignal) => probeAndReport(deps, request, bound, until).catch(throwWithCause);
      const found = await setUpNic(deps, request, allocation, { ...run, probe: probeAddresses ? probe : undefined });
      if (found.conflict) return { conflict: found.conflict };
      if (!result) await saveBinding(deps, bound);
      return { body: formatAddResponse(request, allocation, found.nic) };
    });
    if (!conflict) return body;
    conflicts.push(conflict);
    if (conflicts.length >= maxConflicts || performance.now() >= deadline.until) {
      await deps.files.remove(pending).catch(() => undefined);
      throw notAllocatedError(request, tooManyConflicts(conflicts), '');
    }
    await saveBinding(deps, pending);
  }
}

/** The result of one allocation: the body of the response, or the host that answers on it. */
type AddOutcome =
  | { readonly body: string; readonly conflict?: undefined }
  | { readonly conflict: AddressConflict; readonly body?: undefined };

/**
 * Makes the NIC, or prepares the sandbox where another plugin makes it. Then probes the addresses,
 * within the deadline of the sandbox.
 * @param probe absent: the addresses are used without a probe
 */
async function setUpNic(
  deps: AddDeps,
  request: CniRequest,
  allocation: Allocation,
  {
    deadline: { until, signal },
    span,
    dataPath,
    probe,
  }: AddRun & { readonly probe: ((until: AbortSignal) => Promise<AddressConflict | undefined>) | undefined },
) {
  const sandboxSignal = timeoutSignal(sandboxMs, signal);
  const preparing = span?.child(dataPath ? 'make NIC' : 'prepare sandbox');
  const prepared = dataPath
    ? dataPath.attach(request, allocation, { until: until + nicMs, signal })
    : prepareSandbox(deps, request, allocation, sandboxSignal);
  const nic = (await prepared.finally(() => preparing?.end())) ?? undefined;
  const isProbed = probe && !dataPath;
  const probing = isProbed ? span?.child('probe addresses') : undefined;
  const conflict = isProbed ? await probe(sandboxSignal).finally(() => probing?.end()) : undefined;
  if (signal.aborted) await dataPath?.detach(request, AbortSignal.timeout(unbindMs)).catch(() => undefined);
  throwIfAborted(signal);
  return { nic, conflict };
}

/** @throws IpledgerError NOT_IMPLEMENTED if the agent has no data path */
export function requireDataPath({ dataPath, node }: Pick<AddDeps, 'dataPath' | 'node'>): NicDataPath {
  if (dataPath) return dataPath;
  throw new IpledgerError(
    'NOT_IMPLEMENTED',
    `no data path for type kube-ovn: the agent of node ${node} runs without --ovs-db. Set it to the node's Open vSwitch database (unix:/run/openvswitch/db.sock), or use kube-ovn as ipam.type of another plugin, such as macvlan`,
  );
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new IpledgerError('CANCELLED', 'the caller disconnected');
}

/**
 * Retries an Attach until the deadline of the wait: a standby may take over, or a container on
 * another node may still answer on the address. If the Attach fails, and an attempt without an
 * answer may have bound the container, ends the binding.
 */
async function attach(
  deps: AddDeps,
  pending: SavedBinding,
  {
    until,
    signal,
    trace,
    readWarning,
  }: RetryLimit & {
    readonly trace: TraceContext | undefined;
    readonly readWarning: (until: AbortSignal) => Promise<string>;
  },
): Promise<BindResult> {
  const { allocator, files, node, bootId } = deps;
  const { namespace, pod, podUid, provider, containerId, interface: name } = pending;
  const target = { namespace, pod, podUid, provider, containerId, interface: name };
  let mayBeBound = false;
  let isFault = false;
  const attempt = async (timeoutMs: number): Promise<BindResult> => {
    const request = { ...target, node, bootId, timeoutMs };
    const waiting = new AbortController();
    // Ends the wait for a Pod whose own request is wrong: pod-watcher requests nothing for it, so
    // no event would end the wait.
    const checkFault = async (): Promise<void> => {
      const isWrong = isFaultOfPod(await readWarning(waiting.signal));
      if (!isWrong || waiting.signal.aborted) return;
      isFault = true;
      waiting.abort();
    };
    let checked: Promise<void> | undefined;
    const timer = setTimeout(() => {
      checked = checkFault();
    }, deps.faultCheckMs ?? defaultFaultCheckMs);
    const untilFault = AbortSignal.any([signal, waiting.signal]);
    try {
      return await allocator.attach(request, { timeoutMs: timeoutMs + bindMs, signal: untilFault, trace });
    } catch (error) {
      mayBeBound ||= isFault || mayBeExecuted(IpledgerError.from(error));
      throw isFault ? new IpledgerError('NOT_REQUESTED', 'the request of the Pod is wrong', { cause: error }) : error;
    } finally {
      clearTimeout(timer);
      if (checked) waiting.abort();
      await checked;
    }
  };
  try {
    return await retryUntil({ until, signal }, attempt, { isRetryable: ({ code }) => code === 'ADDRESS_ANSWERING' });
  } catch (error) {
    if (mayBeBound) await unbind(deps, pending);
    else if (files.get(pending)?.isPending) await files.remove(pending).catch(() => undefined);
    throw error;
  }
}

/** Logs a failure to save: the file matters only after a restore of the ledger. */
async function saveBinding({ files, log }: AddDeps, bound: SavedBinding): Promise<void> {
  const before = files.get(bound);
  const save = async (): Promise<void> => {
    if (before?.boundAs) await files.save(bindingThatServed(before));
    await files.save(bound);
  };
  await save().catch((error: unknown) => {
    log.error({ err: error, ...bound }, 'writing a binding file failed: free space in its folder, or correct its mode');
  });
}

async function prepareSandbox(
  { sandbox }: AddDeps,
  request: CniRequest,
  allocation: Allocation,
  signal: AbortSignal,
): Promise<void> {
  const { netns, interface: name, cniType } = request;
  const replacedDefaults = new Set(
    mergeRoutes(request, allocation).flatMap((route) => defaultRouteFamily(route) ?? []),
  );
  const ipv6 = allocation.addresses.some(({ address }) => isIPv6(address));
  // Permits another MAC on a NIC of an OVN provider: the ledger always has a MAC for it, which the
  // plugin that makes the NIC may not support.
  const macMayDiffer = isOvnProvider(request.provider);
  await sandbox.prepare(
    { netns, interface: name, cniType, mac: allocation.mac, macMayDiffer, ipv6, replacedDefaults },
    signal,
  );
}

async function keepOrUnbindOnFailure<Outcome>(
  deps: AddDeps,
  bound: SavedBinding,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } catch (thrown) {
    const found = deps.files.get(bound);
    // Ignores a pending file, which has no addresses and no epoch.
    const saved = found && !found.isPending ? found : bound;
    if (!(await deps.lingering.keep(saved))) await unbind(deps, bound, saved.boundAs);
    throw thrown;
  }
}

/** Unbinds, if bound. @param boundAs the container of the binding; '' for that of `bound` */
async function unbind({ allocator, files, log }: AddDeps, bound: SavedBinding, boundAs = ''): Promise<void> {
  const { namespace, pod, provider, interface: name } = bound;
  const containerId = boundAs || bound.containerId;
  try {
    await allocator.unbind({ namespace, pod, provider, containerId, interface: name }, { timeoutMs: unbindMs });
    await files.remove(bound);
  } catch (error) {
    log.warn({ err: error, ...bound }, 'ADD failed, and so did the end of its binding; the agent retries');
    // Leaves the Unbind to the agent's next pass, because a DEL may never come.
    await files.save({ ...bound, boundAs, isDeleted: true, isPending: false }).catch(() => undefined);
  }
}

/** Reads the Pod from Kubernetes if its uid is unknown, or if it may run a virtual machine. */
export async function resolveCaller(lookUpPod: PodLookup, request: CniRequest, deadline: RetryLimit): Promise<Caller> {
  const { podNamespace: namespace, podName, podUid, provider, containerId, interface: name } = request;
  const needsLookup = podUid === '' || podName.startsWith(launcherPrefix);
  const found = needsLookup
    ? await retryUntil(deadline, (remainingMs) => lookUpPod(request, timeoutSignal(remainingMs, deadline.signal)))
    : { name: podName, uid: podUid, podUid };
  const target = { namespace, pod: found.name, podUid: found.uid, provider, containerId, interface: name };
  return { target, podUid: found.podUid };
}

interface Caller {
  /** The owner of the address in the ledger: the Pod, or the virtual machine that it runs. */
  readonly target: BindTarget;
  /** The uid of the Pod itself. */
  readonly podUid: string;
}

/** Rejects invalid routes with the cause, which the runtime's own error lacks. */
function rejectInvalidRoutes(request: CniRequest, routes: readonly Route[]): void {
  const faults = routes.flatMap((route) => findRouteFault(route) ?? []);
  if (faults.length > 0)
    throw new IpledgerError(
      'ROUTE_INVALID',
      `invalid routes for pod ${request.podNamespace}/${request.podName}: ${faults.join('; ')}`,
    );
}
