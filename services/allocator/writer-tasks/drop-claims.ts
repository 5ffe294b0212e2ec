/**
 * Drops idle claims while this replica is the writer, so that memory and etcd grow only with the
 * addresses in use. For each family of a Subnet the newest idle claims stay, because they record
 * the order in which addresses are reused.
 */
import { setImmediate } from 'node:timers/promises';
import { pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type Claim, compareReuse } from '../../../ledger/domain/state/claim.ts';
import type { State } from '../../../ledger/domain/state/state.ts';
import type { ClaimMap } from '../../../ledger/domain/state/claims.ts';
import { isDroppable, maxClaimsPerDrop } from '../../../ledger/domain/events/claims-dropped.ts';
import { familyOf } from '../../../ledger/domain/addresses/address.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import type { Writer } from '../../../ledger/log/writer/writer.ts';

/** The idle claims that stay, for each family of a Subnet. */
export const idleClaimsKept = 4_096;
const defaultIntervalMs = 60_000;
/** The most claims that a pass drops in a family of a Subnet. The next pass continues. */
const maxClaimsPerPass = 50_000;
/** The loop yields after this many claims, which take a fraction of a millisecond. */
const claimsPerSlice = 1_000;

export interface DropClaimsOptions {
  readonly replica: Replica;
  /** Returns undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly log: Logger;
  /** Set by specs. Defaults: `idleClaimsKept`, one minute. */
  readonly keep?: number;
  readonly intervalMs?: number;
}

/** Runs until the signal is aborted. A failed pass is logged and retried. */
export async function dropIdleClaims(options: DropClaimsOptions, signal: AbortSignal): Promise<void> {
  const { replica, writer, log } = options;
  while (!signal.aborted) {
    await pause(options.intervalMs ?? defaultIntervalMs, signal);
    const here = writer();
    if (!here || signal.aborted) continue;
    try {
      for (const subnet of replica.state.claims.keys()) await dropClaimsOf(subnet, here, options, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: IpledgerError.from(error).message }, 'no claims are dropped; the allocator tries again');
    }
  }
}

async function dropClaimsOf(
  subnet: string,
  writer: Writer,
  { replica: { state, clock }, log, keep = idleClaimsKept }: DropClaimsOptions,
  signal: AbortSignal,
): Promise<void> {
  const claims = state.claims.get(subnet);
  // Most Subnets have few claims besides those of present Pods, and need no pass.
  if (!claims || claims.size - heldAddresses(state, subnet) <= keep) return;
  const now = clock.read().at;
  const addresses = await findExcess(keep, claims, (claim) => isDroppable(state, subnet, claim, now), signal);
  for (let first = 0; first < addresses.length; first += maxClaimsPerDrop) {
    const dropped = addresses.slice(first, first + maxClaimsPerDrop);
    // The state may have changed since the pass. The command decides again about each address.
    const command = (now: number) => ({ type: 'DropClaims', now, subnet, addresses: dropped }) as const;
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
  }
  if (addresses.length > 0) log.info({ subnet, claims: addresses.length }, 'idle claims were dropped');
}

/** The number of usable addresses of a Subnet that Pods hold. */
function heldAddresses(state: State, subnet: string): number {
  const spaces = state.subnets.get(subnet)?.spaces ?? [];
  return spaces.reduce((sum, { inUse }) => sum + Number(inUse), 0);
}

/** Returns the idle claims without the newest `keep` of each family, longest idle first. */
async function findExcess(
  keep: number,
  claims: ClaimMap,
  isIdle: (claim: Claim) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const forEachIdle = async (visit: (address: string, claim: Claim) => void): Promise<void> => {
    let count = 0;
    for (const [address, claim] of claims) {
      if (isIdle(claim)) visit(address, claim);
      if (++count % claimsPerSlice === 0) await setImmediate(undefined, { signal });
    }
  };
  const lastSeqs = { 4: [] as number[], 6: [] as number[] };
  await forEachIdle((address, { last }) => void lastSeqs[familyOf(address)].push(last));
  const firstKept = { 4: firstKeptSeq(lastSeqs[4], keep), 6: firstKeptSeq(lastSeqs[6], keep) };
  const found: { readonly address: string; readonly last: number }[] = [];
  if (firstKept[4] > 0 || firstKept[6] > 0)
    await forEachIdle((address, { last }) => {
      if (last < firstKept[familyOf(address)]) found.push({ address, last });
    });
  return found.toSorted(compareReuse).map(({ address }) => address);
}

/** The event before which claims are dropped, judged by their last events; 0 if all stay. */
function firstKeptSeq(lastSeqs: readonly number[], keep: number): number {
  const excess = Math.min(lastSeqs.length - keep, maxClaimsPerPass);
  return excess > 0 ? (Float64Array.from(lastSeqs).sort()[excess] ?? Infinity) : 0;
}
