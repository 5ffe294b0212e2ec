/**
 * Probes addresses on the wire before a container uses them: ARP, and duplicate address detection
 * of IPv6. The program of the CNI plugin sends the packets, because Node has no packet sockets.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { rejectHostNamespace, runCommand } from '../network-namespace.ts';

/** A host that answers on an address. */
export interface AddressConflict {
  readonly address: string;
  readonly mac: string;
}

export interface ProbeTarget {
  /** Path of the network namespace. */
  readonly netns: string;
  readonly interface: string;
  /** The type of the plugin that makes the link. */
  readonly cniType: string;
  readonly addresses: readonly string[];
}

/** @throws IpledgerError SANDBOX_FAILED; DEADLINE_PASSED while too many probes wait */
export type AddressProbe = (target: ProbeTarget, signal: AbortSignal) => Promise<AddressConflict | undefined>;

// A probe takes half a second, and nearly all of it is waiting.
const deadlineMs = 3_000;
const concurrentProbes = 64;
const maxWaiting = 4_096;

/** An ipvlan link has the MAC of its master, which gets the answers. */
const sharedMac = 'its link has the MAC of its master';

/** @param program the CNI plugin of this version */
export function createAddressProbe(program: string, log: Logger): AddressProbe {
  const semaphore = createSemaphore(concurrentProbes, maxWaiting);
  const logged = new Set<string>();
  const logOnce = (cniType: string, reason: string): void => {
    const key = `${cniType} ${reason}`;
    if (logged.has(key) || logged.size >= maxLogged) return;
    logged.add(key);
    log.warn({ cniType, reason }, 'addresses of this type of link are used without a probe; logged once');
  };
  return async ({ netns, interface: name, cniType, addresses }, callerSignal) => {
    if (cniType === 'ipvlan') {
      logOnce(cniType, sharedMac);
      return undefined;
    }
    const signal = timeoutSignal(deadlineMs, callerSignal);
    const report = await semaphore(signal, async () => {
      await rejectHostNamespace(netns);
      return asRecord(JSON.parse(await runCommand(program, ['probe', netns, name, ...addresses], { signal })));
    }).catch((error: unknown) => {
      if (error instanceof IpledgerError) throw error;
      const reason = signal.aborted ? 'it took too long' : error instanceof Error ? error.message : String(error);
      throw new IpledgerError(
        'SANDBOX_FAILED',
        `the probe of ${addresses.join(' and ')} on ${name} failed, and the Subnet has probeAddresses: ${reason}`,
        { cause: error },
      );
    });
    const { conflict, not_probed: reason } = report;
    if (typeof reason === 'string') logOnce(cniType, reason);
    const { address, mac } = asRecord(conflict);
    return conflict === undefined ? undefined : { address: asText(address), mac: asText(mac) };
  };
}

/** A tenant can invent types of plugins. */
const maxLogged = 64;
