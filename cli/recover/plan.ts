/** What a restored ledger lacks of what the cluster shows, and what it holds that is gone. Pure. */
import { isKept } from '../check/retained.ts';
import { type Claim, claimsOf } from '../import/claims.ts';
import type { LeftPool, LeftSubnet, Snapshot } from '../snapshot.ts';
import type { Allocation, Pool, Subnet } from '../../proto/ipledger.ts';

/** What the ledger says. */
export interface Held {
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Pick<Subnet, 'name'>[];
  readonly pools: readonly Pick<Pool, 'name'>[];
}

/** Something to be taken back before anything is brought back. */
export interface Release {
  readonly allocation: Allocation;
  readonly why: string;
}

export interface Recovery {
  /** In the cluster and not in the ledger. */
  readonly subnets: readonly LeftSubnet[];
  readonly pools: readonly LeftPool[];
  readonly releases: readonly Release[];
  /** What Pods use and the ledger does not know. */
  readonly imports: readonly Claim[];
}

/** Nothing is in it where they agree. */
export function recoveryOf(snapshot: Snapshot, held: Held): Recovery {
  const claims = claimsOf(snapshot, true);
  const byAttachment = new Map(held.allocations.map((allocation) => [attachmentOf(allocation), allocation]));
  const imports = claims.filter((claim) => !isSame(claim, byAttachment.get(keyOf(claim))));
  const subnetNames = new Set(held.subnets.map(({ name }) => name));
  const poolNames = new Set(held.pools.map(({ name }) => name));
  return {
    subnets: snapshot.subnets.filter(({ name }) => !subnetNames.has(name)),
    pools: snapshot.pools.filter(({ name }) => !poolNames.has(name)),
    releases: held.allocations.flatMap((allocation) => {
      const why = whyRelease(allocation, { snapshot, claims, imports });
      return why === undefined ? [] : [{ allocation, why }];
    }),
    imports,
  };
}

const keyOf = ({ holder: { namespace, name }, provider, ordinal }: Claim): string =>
  `${namespace}/${name}/${provider}/${ordinal}`;

const attachmentOf = ({ attachment }: Allocation): string =>
  `${attachment?.namespace}/${attachment?.pod}/${attachment?.provider}/${attachment?.ordinal}`;

const textsOf = ({ addresses }: Allocation): string[] => addresses.map(({ address }) => address).toSorted();

const isSame = (claim: Claim, known: Allocation | undefined): boolean =>
  known !== undefined &&
  known.podUid === claim.holder.uid &&
  known.subnet === claim.subnet &&
  textsOf(known).join() === claim.addresses.toSorted().join();

interface Evidence {
  readonly snapshot: Snapshot;
  readonly claims: readonly Claim[];
  readonly imports: readonly Claim[];
}

/** Undefined for what may stay as it is. */
function whyRelease(allocation: Allocation, { snapshot, claims, imports }: Evidence): string | undefined {
  const own = imports.find((claim) => keyOf(claim) === attachmentOf(allocation));
  if (own) return `the Pod uses ${own.addresses.join(',')} and has uid ${own.holder.uid}`;
  const texts = textsOf(allocation);
  const user = imports.find(
    ({ subnet, addresses }) => subnet === allocation.subnet && addresses.some((each) => texts.includes(each)),
  );
  if (user) return `Pod ${user.holder.namespace}/${user.holder.name} uses it`;
  const isShown = claims.some((claim) => keyOf(claim) === attachmentOf(allocation));
  if (isShown || isKept(allocation, snapshot)) return undefined;
  const { namespace, pod } = allocation.attachment ?? {};
  const isThere = snapshot.pods.some(
    (each) =>
      each.namespace === namespace && (each.ledgerName ?? each.name) === pod && each.identity === allocation.podUid,
  );
  return isThere ? undefined : 'its Pod is gone';
}
