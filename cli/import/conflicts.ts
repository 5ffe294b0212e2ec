/** What stands against an import, all of it, each with what to do about it. Pure. */
import { lifeOf } from '../check/pods.ts';
import { cidrHas, isAddress } from '../../lib/ip.ts';
import type { Allocation, Subnet } from '../../proto/ipledger.ts';
import type { Claim } from './claims.ts';
import type { Plan, Reservation } from './plan.ts';
import type { LeftSubnet, Snapshot } from '../snapshot.ts';

export interface Conflict {
  readonly kind:
    | 'held twice'
    | 'held and reserved'
    | 'IP object and annotation'
    | 'not understood'
    | 'no Subnet'
    | 'out of range'
    | 'overlap'
    | 'in the ledger'
    | 'stopped machine';
  /** "Pod default/web", "Subnet lan", … */
  readonly where: string;
  readonly what: string;
  readonly remedy: string;
}

/** What the ledger has already. */
export interface Known {
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
}

/** Every one. */
export function conflictsOf(plan: Plan, snapshot: Snapshot, known: Known): Conflict[] {
  const subnets = new Map(snapshot.subnets.map((subnet) => [subnet.name, subnet]));
  return [
    ...overlaps(snapshot.subnets),
    ...plan.claims.flatMap((claim) => ofClaim(claim, subnets.get(claim.subnet))),
    ...ofLedger(plan.claims, known),
    ...heldTwice(plan.claims),
    ...heldAndReserved(plan),
    ...ofSubnets(snapshot.subnets, known),
    ...ofLeftovers(plan, snapshot),
  ];
}

const podOf = ({ holder: { namespace, name } }: Claim): string => `Pod ${namespace}/${name}`;
const recreate = 'delete the Pod, so that it is made anew; or correct what is wrong';

function ofClaim(claim: Claim, subnet: LeftSubnet | undefined): Conflict[] {
  const where = podOf(claim);
  const { provider, addresses, ip, problem } = claim;
  const says = `${provider} ${addresses.join(',') || '(no address)'}`;
  const found: Conflict[] = [];
  const tell = (kind: Conflict['kind'], what: string, remedy = recreate): void =>
    void found.push({ kind, where, what, remedy });
  const wrong = addresses.find((address) => !isAddress(address));
  if (addresses.length === 0) tell('not understood', `it shows that it has an address of ${provider}, and none`);
  else if (wrong !== undefined) tell('not understood', `${wrong} of ${provider} is no address`);
  else if (!subnet)
    tell(
      'no Subnet',
      `${says}: there is no Subnet ${claim.subnet || `of provider ${provider}`}`,
      'create the Subnet that it is of, or delete the Pod',
    );
  else
    for (const address of addresses)
      if (!holds(subnet, address))
        tell('out of range', `${address} is not in Subnet ${subnet.name} (${subnet.spec.cidrBlock})`);
  if (problem !== undefined) tell('not understood', problem, 'correct the annotation');
  if (ip && ip.addresses.join() !== addresses.join())
    tell(
      'IP object and annotation',
      `its annotation says ${says}, IP object ${ip.name} says ${ip.addresses.join(',') || 'nothing'}`,
      'look which one the container has (ip addr), and correct the other',
    );
  return found;
}

const holds = ({ spec }: LeftSubnet, address: string): boolean =>
  spec.cidrBlock.split(',').some((cidr) => cidrHas(cidr.trim(), address));

/** The same address, or the same MAC, of one Subnet. */
function heldTwice(claims: readonly Claim[]): Conflict[] {
  const first = new Map<string, Claim>();
  return claims.flatMap((claim) => {
    const { subnet, addresses, mac } = claim;
    const keys = addresses.map((address) => `${address} of Subnet ${subnet}`);
    if (mac !== '') keys.push(`MAC ${mac} in Subnet ${subnet}`);
    return keys.flatMap((key): Conflict[] => {
      const other = first.get(key);
      first.set(key, other ?? claim);
      if (!other) return [];
      const remedy = 'delete one of the two, so that it is made anew after the import';
      return [{ kind: 'held twice', where: `${podOf(other)} and ${podOf(claim)}`, what: key, remedy }];
    });
  });
}

/** Somebody else's reservation on an address that a Pod has. */
function heldAndReserved({ claims, reservations }: Plan): Conflict[] {
  const reserved = new Map<string, Reservation>();
  for (const each of reservations)
    for (const address of each.addresses) reserved.set(`${each.subnet}/${address}`, each);
  return claims.flatMap((claim) => {
    const { holder, provider, vip, subnet, addresses } = claim;
    const own = [`pod/${holder.namespace}/${holder.name}/${provider}`, `vip/${vip}`];
    return addresses.flatMap((address): Conflict[] => {
      const by = reserved.get(`${subnet}/${address}`);
      if (!by || own.includes(by.reservedFor)) return [];
      const what = `${address} of Subnet ${subnet}, which ${by.object.kind} ${by.object.name} reserves`;
      return [
        {
          kind: 'held and reserved',
          where: podOf(claim),
          what,
          remedy: `delete the Pod, or the ${by.object.kind} object`,
        },
      ];
    });
  });
}

/** Two Subnets of one network cannot have the same addresses. */
function overlaps(subnets: readonly LeftSubnet[]): Conflict[] {
  const cidrs = subnets.flatMap(({ name, spec }) =>
    spec.cidrBlock.split(',').map((cidr) => ({ name, provider: spec.provider || 'ovn', cidr: cidr.trim() })),
  );
  return cidrs.flatMap((one, index) =>
    cidrs.slice(index + 1).flatMap((other): Conflict[] => {
      if (one.name === other.name || one.provider !== other.provider || !overlap(one.cidr, other.cidr)) return [];
      const what = `${one.cidr} and ${other.cidr}, both of provider ${one.provider}`;
      const remedy = 'give each network a provider of its own, or shrink one of them';
      return [{ kind: 'overlap', where: `Subnets ${one.name} and ${other.name}`, what, remedy }];
    }),
  );
}

/** Of two CIDRs that share an address, one holds the other's. */
function overlap(one: string, other: string): boolean {
  const base = (cidr: string): string => cidr.split('/')[0] ?? '';
  return cidrHas(one, base(other)) || cidrHas(other, base(one));
}

/** A subnet of that name that is another one. */
function ofSubnets(subnets: readonly LeftSubnet[], known: Known): Conflict[] {
  const inForce = new Map(known.subnets.map((subnet) => [subnet.name, subnet]));
  return subnets.flatMap(({ name, uid }): Conflict[] => {
    const source = inForce.get(name)?.source;
    if (!inForce.has(name) || source?.uid === uid) return [];
    const what = `the ledger has a subnet of this name that was ${source ? 'made from another object' : 'configured by an operator'}`;
    return [
      {
        kind: 'in the ledger',
        where: `Subnet ${name}`,
        what,
        remedy: 'retire that one, or give this one another name',
      },
    ];
  });
}

/** What the ledger says of the same addresses, or of the same attachment. What it has taken over already is none. */
function ofLedger(claims: readonly Claim[], { allocations }: Known): Conflict[] {
  const byAddress = new Map(
    allocations.flatMap((each) => each.addresses.map(({ address }) => [`${each.subnet}/${address}`, each] as const)),
  );
  const byAttachment = new Map(allocations.map((each) => [attachmentOf(each), each]));
  return claims.flatMap((claim) => {
    const { holder, subnet, addresses, ordinal } = claim;
    const key = `${holder.namespace}/${holder.name} ${claim.provider}`;
    const own = byAttachment.get(`${key} ${ordinal}`);
    const holders = addresses.flatMap((address) => byAddress.get(`${subnet}/${address}`) ?? []);
    const others = new Set(holders.filter((each) => !attachmentOf(each).startsWith(`${key} `)));
    if (own?.podUid === holder.uid && textOf(own) !== addresses.join()) others.add(own);
    return [...others].map((allocation): Conflict => {
      const { attachment, seq } = allocation;
      const whose = `Pod ${attachment?.namespace}/${attachment?.pod}'s (event ${seq})`;
      const what = `it shows ${addresses.join()}; in the ledger ${textOf(allocation)} is ${whose}`;
      const remedy = 'delete the Pod that is wrong; `ipledger history` tells how it came';
      return { kind: 'in the ledger', where: podOf(claim), what, remedy };
    });
  });
}

const textOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join();
const attachmentOf = ({ attachment }: Allocation): string =>
  `${attachment?.namespace}/${attachment?.pod} ${attachment?.provider} ${attachment?.ordinal}`;

/** IP objects that would be deleted, though somebody may want their address again. */
function ofLeftovers({ leftovers }: Plan, { pods, at }: Snapshot): Conflict[] {
  const alive = new Set(
    pods.filter((pod) => lifeOf(pod, at) !== 'ended').map(({ namespace, name }) => `${namespace}/${name}`),
  );
  return leftovers.flatMap(({ name, pod, namespace, podType, addresses }): Conflict[] => {
    const where = `IP object ${name}`;
    const whose = `${namespace}/${pod}`;
    if (podType === 'VirtualMachine') {
      const what = `${addresses.join()} is kept for virtual machine ${whose}, which does not run`;
      return [{ kind: 'stopped machine', where, what, remedy: 'start the machine, or delete the IP object' }];
    }
    if (!alive.has(whose)) return [];
    const what = `it says that Pod ${whose} has ${addresses.join()}, and the Pod shows nothing of that`;
    return [{ kind: 'IP object and annotation', where, what, remedy: 'delete the Pod, or the IP object' }];
  });
}
