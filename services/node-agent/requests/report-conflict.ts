/** Reports conflicts on the wire to the allocator, and describes them in the error of an ADD. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingFiles, SavedBinding } from '../bindings/binding-files.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import type { BindingClient } from '../bindings/binding-client.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { AddressConflict, AddressProbe } from './address-probe.ts';

/** `refused`: the allocator did not quarantine the address, or did not answer. */
export const conflictOutcomes = ['quarantined', 'refused'] as const;
export type ConflictOutcome = (typeof conflictOutcomes)[number];

export interface ConflictDeps {
  readonly allocator: Pick<BindingClient, 'reportConflict'>;
  readonly probe: AddressProbe;
  readonly files: Pick<BindingFiles, 'get'>;
  readonly node: string;
  /** Counts a conflict that a probe found. */
  readonly onConflict?: ((outcome: ConflictOutcome) => void) | undefined;
  readonly log: Logger;
}

/** The conflicts after which an ADD fails. The next ADD continues. */
export const maxConflicts = 3;

const reportMs = 1_000;

/**
 * Finds a conflict. The allocator then quarantines the address, and ends binding and allocation.
 */
export async function probeAndReport(
  { allocator, probe, files, node, log, onConflict }: ConflictDeps,
  { netns, cniType, interface: name }: CniRequest,
  { addresses, namespace, pod, podUid, provider, containerId }: SavedBinding,
  signal: AbortSignal,
): Promise<AddressConflict | undefined> {
  const conflict = await probe({ netns, interface: name, cniType, addresses }, signal);
  if (!conflict) return undefined;
  const { address, mac: seenMac } = conflict;
  const boundAs = files.get({ containerId, interface: name })?.boundAs || containerId;
  const binding = { namespace, pod, podUid, provider, containerId: boundAs, interface: name, node };
  try {
    await allocator.reportConflict({ ...binding, address, seenMac }, { timeoutMs: reportMs });
  } catch (error) {
    onConflict?.('refused');
    log.warn(
      { err: error, ...binding, address, seenMac },
      'another host answers on the address: the allocator has not confirmed a quarantine',
    );
    throw error;
  }
  onConflict?.('quarantined');
  log.warn({ ...binding, address, seenMac }, 'another host answers on the address: it is quarantined');
  return conflict;
}

const describeConflicts = (conflicts: readonly AddressConflict[]): string =>
  conflicts.map(({ address, mac }) => `${mac} answers on ${address}`).join(', ');

/** The Pod requests an address that is quarantined now, or got none in time. */
export function afterConflicts(conflicts: readonly AddressConflict[], thrown: unknown): unknown {
  if (conflicts.length === 0) return thrown;
  const error = IpledgerError.from(thrown);
  return new IpledgerError(error.code, `${describeConflicts(conflicts)}: ${error.message}`, { cause: error });
}

export const tooManyConflicts = (conflicts: readonly AddressConflict[]): IpledgerError =>
  new IpledgerError(
    'ADDRESS_QUARANTINED',
    `${describeConflicts(conflicts)}, and each is quarantined now. The next ADD tries another address. Find these hosts, or exclude their addresses from the Subnet`,
  );
