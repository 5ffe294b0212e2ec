/**
 * CNI ADD: wait until the allocation exists, record that this container has it, prepare the sandbox, and only then answer.
 * Nothing is answered from memory: when the allocator cannot say, the ADD waits, and at last fails with the reason.
 */
import { isIPv6 } from 'node:net';
import { within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { launcherPrefix } from '../../lib/pod-identity.ts';
import { isOvnProvider } from '../../lib/provider.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import { notAllocated } from './cni-error.ts';
import type { Allocator, BoundAt } from './allocator.ts';
import type { BindingFiles } from './binding-files.ts';
import { type Patience, patience, persistently } from './patience.ts';
import type { Identify } from './pods.ts';
import type { Sandbox } from './sandbox.ts';
import type { Told } from './told.ts';
import { answerAdd, type CniRequest, defaultFamily, faultOf, routesFor } from './wire.ts';

// The plugin gives up after 30 s: these, and the 4 s of preparing the sandbox, must end before that, one after the other.
const waitMs = 20_000;
const waitGraceMs = 1_000;
const bindMs = 3_000;
const unbindMs = 1_500;

export interface AddDeps {
  readonly allocator: Allocator;
  readonly identify: Identify;
  readonly told: Told;
  readonly sandbox: Sandbox;
  readonly files: BindingFiles;
  readonly node: string;
  /** Bindings of an earlier boot of the node are void. */
  readonly bootId: string;
  readonly log: Logger;
}

/**
 * @param signal aborted when the caller hung up. Whenever that is, and whatever fails: an ADD that ends without an answer
 * leaves no binding, for a DEL may be long in coming, and until then nobody else would get the address.
 * @returns the body of the answer
 * @throws IpledgerError with the sentence that becomes the CNI error
 */
export async function add(deps: AddDeps, request: CniRequest, signal: AbortSignal): Promise<string> {
  if (request.cniType === 'kube-ovn')
    throw new IpledgerError(
      'NOT_IMPLEMENTED',
      'data path not available: type kube-ovn makes NICs only on Kube-OVN; use it as ipam.type of another plugin, as macvlan',
    );
  const waiting = patience(waitMs, signal);
  const { bound: who, ownUid } = await callerOf(deps.identify, request, waiting);
  const explained = async (thrown: unknown): Promise<never> => {
    const error = IpledgerError.from(thrown);
    const isUnrequested = error.code === 'NOT_REQUESTED' || error.code === 'PROVIDER_UNBOUND';
    const told = isUnrequested ? await deps.told({ namespace: who.namespace, uid: ownUid }, signal) : '';
    throw notAllocated(request, error, told);
  };
  const promised = await persistently(waiting, (leftMs) =>
    deps.allocator.wait({ ...who, timeoutMs: leftMs }, { timeoutMs: leftMs + waitGraceMs, signal }),
  ).catch(explained);
  checkRoutes(request, promised);
  refuseGone(signal);
  return answeredOrUnbound(deps, who, async () => {
    const { allocation, epoch } = await bind(deps, who, waiting).catch(explained);
    refuseGone(signal);
    await prepare(deps, request, allocation, signal);
    refuseGone(signal);
    await keep(deps, who, { allocation, epoch });
    return answerAdd(request, allocation);
  });
}

function refuseGone(signal: AbortSignal): void {
  if (signal.aborted) throw new IpledgerError('CANCELLED', 'the caller hung up');
}

/**
 * Once sent, a Bind is seen through to its outcome: its caller's signal does not reach it. What the wait has left of its time is
 * added to its own, for while a standby takes over, or a container on another node stops to answer on the address.
 */
function bind({ allocator, node, bootId }: AddDeps, who: Bound, { until, signal }: Patience): Promise<BoundAt> {
  const patient = { until: Math.max(until, performance.now() + bindMs), signal };
  return persistently(
    patient,
    (leftMs) => allocator.bind({ ...who, node, bootId }, { timeoutMs: Math.min(leftMs, bindMs) }),
    ({ code }) => code === 'ADDRESS_ANSWERING',
  );
}

/** A binding without a file is lost when the ledger is restored from an older backup; that keeps no Pod from its start. */
async function keep({ files, log }: AddDeps, who: Bound, { allocation, epoch }: BoundAt): Promise<void> {
  const addresses = allocation.addresses.map(({ address }) => address);
  await files.keep({ ...who, addresses, epoch }).catch((error: unknown) => {
    log.error({ err: error, ...who }, 'the file of a binding could not be written: free or correct its folder');
  });
}

function prepare({ sandbox }: AddDeps, request: CniRequest, allocation: Allocation, signal: AbortSignal) {
  const { netns, interface: name, cniType } = request;
  const replacedDefaults = new Set(routesFor(request, allocation).flatMap((route) => defaultFamily(route) ?? []));
  const ipv6 = allocation.addresses.some(({ address }) => isIPv6(address));
  // Kube-OVN's own NICs always have a MAC in the ledger; another plugin that makes such a NIC may not know of it.
  const macMayDiffer = isOvnProvider(request.provider);
  return sandbox.prepare(
    { netns, interface: name, cniType, mac: allocation.mac, macMayDiffer, ipv6, replacedDefaults },
    signal,
  );
}

/** The one place where a binding is ended again. Ending one that never came to be does nothing. */
async function answeredOrUnbound(deps: AddDeps, who: Bound, work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (thrown) {
    await unbind(deps, who);
    throw thrown;
  }
}

async function unbind({ allocator, files, log }: AddDeps, who: Bound): Promise<void> {
  const { namespace, pod, provider, containerId, interface: name } = who;
  try {
    await files.drop(who);
    await allocator.unbind({ namespace, pod, provider, containerId, interface: name }, { timeoutMs: unbindMs });
  } catch (error) {
    log.warn({ err: error, ...who }, 'ADD failed, and its binding could not be ended; its DEL will');
  }
}

/** Who asks. Looked up where the caller does not tell the Pod's uid, and where the Pod may be a virtual machine's. */
export async function callerOf(identify: Identify, request: CniRequest, patient: Patience): Promise<Caller> {
  const { podNamespace: namespace, podName, podUid, provider, containerId, interface: name } = request;
  const isKnown = podUid !== '' && !podName.startsWith(launcherPrefix);
  const known = isKnown
    ? { name: podName, uid: podUid, podUid }
    : await persistently(patient, (leftMs) => identify(request, within(leftMs, patient.signal)));
  const bound = { namespace, pod: known.name, podUid: known.uid, provider, containerId, interface: name };
  return { bound, ownUid: known.podUid };
}

interface Caller {
  /** As the ledger knows it. */
  readonly bound: Bound;
  /** The uid of the Pod itself. */
  readonly ownUid: string;
}

interface Bound {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly provider: string;
  readonly containerId: string;
  readonly interface: string;
}

/** Before anything is bound: a route that the runtime can't use would fail there with a riddle. */
function checkRoutes(request: CniRequest, allocation: Allocation): void {
  const faults = routesFor(request, allocation).flatMap((route) => faultOf(route) ?? []);
  if (faults.length > 0)
    throw new IpledgerError(
      'ROUTE_INVALID',
      `invalid routes for pod ${request.podNamespace}/${request.podName}: ${faults.join('; ')}`,
    );
}
