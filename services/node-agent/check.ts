/**
 * CNI CHECK: is the container's address still what the runtime takes it for? The ledger's word is compared with the result of the
 * ADD. Links and routes are looked at by the plugin that made them.
 */
import { IpledgerError } from '../../lib/errors.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import { type AddDeps, callerOf } from './add.ts';
import type { Asked } from './asked.ts';
import { patience, persistently } from './patience.ts';
import type { CniRequest } from './wire.ts';

// The plugin gives up after 10 s.
const checkMs = 6_000;
const attemptMs = 2_000;

/**
 * @throws IpledgerError CHECK_FAILED, saying what differs; or why it could not be found out, which says nothing against the
 * container.
 */
export async function check(
  { allocator, identify }: Pick<AddDeps, 'allocator' | 'identify'>,
  { request, addresses }: Extract<Asked, { verb: 'check' }>,
  signal: AbortSignal,
): Promise<void> {
  const patient = patience(checkMs, signal);
  try {
    const { bound: who } = await callerOf(identify, request, patient);
    const allocation = await persistently(patient, (leftMs) =>
      allocator.wait({ ...who, timeoutMs: 1 }, { timeoutMs: Math.min(leftMs, attemptMs), signal }),
    );
    const found = differences(request, addresses, allocation);
    if (found.length > 0) throw new IpledgerError('NOT_ALLOCATED', found.join('; '));
  } catch (thrown) {
    const error = IpledgerError.from(thrown);
    const answered = error.kind === 'conflict' ? 'CHECK_FAILED' : error.code;
    throw new IpledgerError(answered, `${nameOf(request)}: ${error.message}`, { cause: error });
  }
}

const nameOf = ({ podNamespace, podName, interface: name, containerId }: CniRequest): string =>
  `interface ${name} of pod ${podNamespace}/${podName} (container ${containerId})`;

/** A chain may have given the container more addresses than ours. */
function differences(request: CniRequest, remembered: readonly string[], allocation: Allocation): string[] {
  const held = allocation.addresses.map(({ address, cidr }) => `${address}/${cidr.split('/')[1] ?? ''}`);
  const missing = held.filter((address) => !remembered.includes(address));
  const found: string[] = [];
  if (missing.length > 0)
    found.push(`the ledger says ${held.join(', ')}, and prevResult says ${remembered.join(', ') || 'no address'}`);
  const { containerId, interface: name } = request;
  if (!allocation.bindings.some((bound) => bound.containerId === containerId && bound.interface === name)) {
    const others = allocation.bindings.map((bound) => `container ${bound.containerId} as ${bound.interface}`);
    found.push(`${held.join(', ')} is not bound to it, but to ${others.join(' and ') || 'no container'}`);
  }
  return found;
}
