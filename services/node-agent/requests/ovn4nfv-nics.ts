/**
 * Requests of an OVN4NFV type: one ADD makes all NICs that the Pod requests by annotation, or none;
 * one DEL removes all NICs of the container. Each NIC is an ADD and a DEL of type kube-ovn with its
 * own binding.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { ovn4nfvProvider, ovn4nfvTypes } from '../../../lib/kubernetes/served-network.ts';
import type { Ovn4nfvRequest } from '../../../lib/ovn4nfv/request.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import { type BindingFiles, type ContainerInterface, interfaceKey } from '../bindings/binding-files.ts';
import { listNodeBindings } from '../bindings/node-bindings.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import type { Ovn4nfvLookup } from '../kubernetes/pod-lookup.ts';
import type { NicDataPath } from './add.ts';

const lookUpMs = 3_000;
const undoMs = 4_000;

export const isOvn4nfvType = (cniType: string): boolean => ovn4nfvTypes.includes(cniType);

/** The key in the keyed mutex for all NICs of a container. No single NIC has this key. */
export const containerKey = ({ containerId }: Pick<ContainerInterface, 'containerId'>): string =>
  interfaceKey({ containerId, interface: '' });

/** Makes or removes one NIC. */
export type OneNic<T> = (nic: CniRequest, signal: AbortSignal) => Promise<T>;

export interface AddNicsDeps {
  readonly lookUpOvn4nfv: Ovn4nfvLookup;
  /** Runs an ADD of one NIC; returns the body of its response. Removes a NIC that fails. */
  readonly addNic: OneNic<string>;
  readonly delNic: OneNic<void>;
  readonly log: Logger;
}

/**
 * Makes all NICs at the same time. If one NIC fails, removes those that were made.
 * @returns the response of the first NIC, with the responses of all NICs in `nics`
 * @throws IpledgerError of the first NIC that failed
 */
export async function addNics(deps: AddNicsDeps, request: CniRequest, signal: AbortSignal): Promise<string> {
  const nics = await requestedNics(deps.lookUpOvn4nfv, request, signal);
  const stop = new AbortController();
  const failures: unknown[] = [];
  const outcomes = await Promise.allSettled(
    nics.map((nic) =>
      deps.addNic(nic, AbortSignal.any([signal, stop.signal])).catch((error: unknown) => {
        failures.push(error);
        // Stops the other NICs, which would be removed anyway.
        stop.abort();
        throw error;
      }),
    ),
  );
  if (failures.length > 0) {
    const made = nics.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    await undo(deps, made);
    throw failures[0];
  }
  const responses = outcomes.flatMap((each) =>
    each.status === 'fulfilled' ? [JSON.parse(each.value) as Record<string, unknown>] : [],
  );
  return JSON.stringify({ ...responses[0], nics: responses });
}

/** Frees the addresses of a failed ADD before the runtime sends its DEL. */
async function undo({ delNic, log }: AddNicsDeps, made: readonly CniRequest[]): Promise<void> {
  const signal = AbortSignal.timeout(undoMs);
  const outcomes = await Promise.allSettled(made.map((nic) => delNic(nic, signal)));
  for (const [index, outcome] of outcomes.entries())
    if (outcome.status === 'rejected')
      log.warn(
        { err: outcome.reason as unknown, containerId: made[index]?.containerId, interface: made[index]?.interface },
        'ADD failed, and so did the removal of a NIC; the DEL removes it',
      );
}

/**
 * Returns the ADD of each NIC. A Pod without a request has one NIC, which the runtime names; the
 * runtime also names a NIC without a name in the request.
 * @throws IpledgerError when the Pod or its request cannot be read, or has no NIC of the
 * configuration's network
 */
async function requestedNics(
  lookUp: Ovn4nfvLookup,
  request: CniRequest,
  signal: AbortSignal,
): Promise<readonly CniRequest[]> {
  const found = await retryUntil(retryFor(lookUpMs, signal), (remainingMs) =>
    lookUp(request, timeoutSignal(remainingMs, signal)),
  );
  const names = found ? selectedNames(found, request) : [request.interface];
  return names.map((name) => nicRequest(request, name));
}

function selectedNames({ key, interfaces }: Ovn4nfvRequest, request: CniRequest): string[] {
  const { nfnNetwork } = request;
  const selected = interfaces.filter(
    ({ network, interface: name }) => nfnNetwork === '' || nfnNetwork === network || nfnNetwork === name,
  );
  if (selected.length === 0)
    throw new IpledgerError(
      'NOT_REQUESTED',
      `annotation ${key} of pod ${request.podNamespace}/${request.podName} has no interface of network ${nfnNetwork}, which nfn-network of the CNI configuration names: correct one of them`,
    );
  return selected.map(({ interface: name }) => name || request.interface);
}

/** Makes the request for one NIC of a container. */
const nicRequest = (request: CniRequest, name: string): CniRequest => ({
  ...request,
  cniType: 'kube-ovn',
  provider: ovn4nfvProvider,
  interface: name,
});

export interface ContainerNicsDeps {
  readonly files: Pick<BindingFiles, 'all'>;
  readonly allocator: BindingClient;
  readonly node: string;
  readonly dataPath?: Pick<NicDataPath, 'interfacesOf'> | undefined;
}

/**
 * Lists the NICs that OVN4NFV requests made for a container, by its binding files and OVS ports; if
 * there are none, by the ledger. The Pod may already be deleted.
 * @throws IpledgerError when the allocator is unavailable
 */
export async function nicsOfContainer(
  { files, allocator, node, dataPath }: ContainerNicsDeps,
  request: CniRequest,
  signal: AbortSignal,
): Promise<readonly CniRequest[]> {
  const { containerId } = request;
  const saved = files.all().filter((each) => each.containerId === containerId && each.provider === ovn4nfvProvider);
  const names = new Set(saved.map(({ interface: name }) => name));
  for (const name of dataPath?.interfacesOf(containerId, ovn4nfvProvider) ?? []) names.add(name);
  if (names.size === 0)
    for (const { attachment, binding } of await listNodeBindings(node, allocator, signal))
      if (binding.containerId === containerId && attachment.provider === ovn4nfvProvider) names.add(binding.interface);
  return [...names].map((name) => nicRequest(request, name));
}

/**
 * Removes all NICs of a container.
 * @throws IpledgerError when the NICs are unknown or some cannot be removed now; the others are
 * removed
 */
export async function delNics(
  deps: ContainerNicsDeps & Pick<AddNicsDeps, 'delNic'>,
  request: CniRequest,
  signal: AbortSignal,
): Promise<void> {
  const nics = await nicsOfContainer(deps, request, signal);
  const outcomes = await Promise.allSettled(nics.map((nic) => deps.delNic(nic, signal)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
