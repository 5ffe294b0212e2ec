/**
 * CNI CHECK: compares addresses and binding in the ledger with the runtime's prevResult, and the
 * OVS port and link of a NIC that the agent made. If another plugin made the link, that plugin
 * checks links and routes.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { logicalPortName } from '../../../lib/ovn/names.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { type AddDeps, resolveCaller } from './add.ts';
import type { PluginRequest, CniRequest } from '../daemon/plugin-request.ts';
import { retryFor, retryUntil } from '../../../lib/process/retry.ts';

// The time limit of a CHECK: shorter than that of the plugin, 10 s.
const checkMs = 6_000;
const attemptMs = 2_000;

/** @throws IpledgerError CHECK_FAILED with the difference; another code if it could not compare */
export async function check(
  { allocator, lookUpPod, files, dataPath }: Pick<AddDeps, 'allocator' | 'lookUpPod' | 'files' | 'dataPath'>,
  { request, addresses }: Extract<PluginRequest, { verb: 'check' }>,
  signal: AbortSignal,
): Promise<void> {
  const deadline = retryFor(checkMs, signal);
  try {
    const { target } = await resolveCaller(lookUpPod, request, deadline);
    const { allocation } = await retryUntil(deadline, (remainingMs) =>
      allocator.wait({ ...target, timeoutMs: 1 }, { timeoutMs: Math.min(remainingMs, attemptMs), signal }),
    );
    const containerId = files.get(request)?.boundAs || request.containerId;
    const differences = findDifferences({ ...request, containerId }, addresses, allocation);
    if (request.cniType === 'kube-ovn' && allocation.attachment)
      differences.push(
        ...((await dataPath?.findFaults(request, logicalPortName(allocation.attachment), signal)) ?? []),
      );
    if (differences.length > 0) throw new IpledgerError('NOT_ALLOCATED', differences.join('; '));
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    const code = error.kind === 'conflict' ? 'CHECK_FAILED' : error.code;
    throw new IpledgerError(code, `${describeInterface(request)}: ${error.message}`, { cause: error });
  }
}

const describeInterface = ({ podNamespace, podName, interface: name, containerId }: CniRequest): string =>
  `interface ${name} of pod ${podNamespace}/${podName} (container ${containerId})`;

/** Ignores further addresses in prevResult, which other plugins of a chain add. */
function findDifferences(request: CniRequest, prevAddresses: readonly string[], allocation: Allocation): string[] {
  const allocated = allocation.addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? ''}`);
  const missing = allocated.filter((address) => !prevAddresses.includes(address));
  const differences: string[] = [];
  if (missing.length > 0)
    differences.push(
      `the ledger has ${allocated.join(', ')}, prevResult has ${prevAddresses.join(', ') || 'no address'}`,
    );
  const { containerId, interface: name } = request;
  if (!allocation.bindings.some((bound) => bound.containerId === containerId && bound.interface === name)) {
    const others = allocation.bindings.map((bound) => `container ${bound.containerId} as ${bound.interface}`);
    differences.push(`${allocated.join(', ')} is bound to ${others.join(' and ') || 'no container'}, not to this one`);
  }
  return differences;
}
