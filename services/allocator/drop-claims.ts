/**
 * Drops claims that rest, while this replica is the writer, so that memory and etcd grow with what is in use. Of each family of a
 * subnet the last claims that came to rest stay: they hold the order in which addresses are reused.
 */
import { setImmediate } from 'node:timers/promises';
import { pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Claim } from './domain/claim.ts';
import { isRested, mostClaimsADrop } from './domain/decide/drop.ts';
import { familyOf } from './domain/event.ts';
import type { Replica } from './ledger/replica.ts';
import type { Writer } from './ledger/writer.ts';

/** Of each family of a subnet. */
export const restingClaimsKept = 4_096;
const lookMs = 60_000;
/** In one look at a family of a subnet; what is left is dropped by the next. */
const mostALook = 50_000;
/** A fraction of a millisecond's worth. */
const claimsATurn = 1_000;

export interface DropOptions {
  readonly replica: Replica;
  /** undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly log: Logger;
  /** For specs: how many stay (4,096), and how often it looks (once a minute). */
  readonly keep?: number;
  readonly lookMs?: number;
}

/** Goes on until the signal is aborted; whatever fails is tried again. */
export async function dropRestingClaims(options: DropOptions, signal: AbortSignal): Promise<void> {
  const { replica, writer, log } = options;
  while (!signal.aborted) {
    await pause(options.lookMs ?? lookMs, signal);
    const here = writer();
    if (!here || signal.aborted) continue;
    try {
      for (const subnet of replica.state.claims.keys()) await dropOf(subnet, here, options, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ reason: IpledgerError.from(error).message }, 'no claims are dropped; the allocator tries again');
    }
  }
}

async function dropOf(
  subnet: string,
  writer: Writer,
  { replica: { state, clock }, log, keep = restingClaimsKept }: DropOptions,
  signal: AbortSignal,
): Promise<void> {
  const claims = state.claims.get(subnet);
  // Most subnets have few, and are not looked through.
  if (!claims || claims.size <= keep) return;
  const now = clock.read().at;
  const addresses = await beyond(keep, claims, (claim) => isRested(state, subnet, claim, now), signal);
  for (let first = 0; first < addresses.length; first += mostClaimsADrop) {
    const some = addresses.slice(first, first + mostClaimsADrop);
    // The state may have changed since: the command is decided for each address against what is true by then.
    const command = (now: number) => ({ type: 'DropClaims', now, subnet, addresses: some }) as const;
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
  }
  if (addresses.length > 0) log.info({ subnet, claims: addresses.length }, 'claims that rested were dropped');
}

/** The addresses whose claims have rested longest, those of each family but the last `keep`; the one idle longest first. */
async function beyond(
  keep: number,
  claims: ReadonlyMap<string, Claim>,
  isRested: (claim: Claim) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const each = async (take: (address: string, claim: Claim) => void): Promise<void> => {
    let looked = 0;
    for (const [address, claim] of claims) {
      if (isRested(claim)) take(address, claim);
      if (++looked % claimsATurn === 0) await setImmediate(undefined, { signal });
    }
  };
  const lasts = { 4: [] as number[], 6: [] as number[] };
  await each((address, { last }) => void lasts[familyOf(address)].push(last));
  const end = { 4: endOf(lasts[4], keep), 6: endOf(lasts[6], keep) };
  const found: { readonly address: string; readonly last: number }[] = [];
  if (end[4] > 0 || end[6] > 0)
    await each((address, { last }) => {
      if (last < end[familyOf(address)]) found.push({ address, last });
    });
  return found.toSorted((one, other) => one.last - other.last).map(({ address }) => address);
}

/** Claims whose last event is before this one are too many; 0 when none are. */
function endOf(lasts: readonly number[], keep: number): number {
  const excess = Math.min(lasts.length - keep, mostALook);
  return excess > 0 ? (Float64Array.from(lasts).sort()[excess] ?? Infinity) : 0;
}
