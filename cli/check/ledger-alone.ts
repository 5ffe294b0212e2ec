/** What the ledger says, against itself and against who may still answer. */
import { BlockList, isIPv4 } from 'node:net';
import type { Allocation, SubnetSpec } from '../../proto/ipledger.ts';
import type { Disagreement, Picture } from './picture.ts';
import { podOf, said } from './say.ts';

/** No address, no MAC and no attachment is given twice; nor is an address on one network, whatever the subnet. */
export function compareHolders({ ledger }: Picture): Disagreement[] {
  const holders = new Map<string, Allocation>();
  return ledger.allocations.flatMap((allocation) => {
    const others = thingsHeld(allocation).flatMap((thing) => {
      const other = holders.get(thing);
      holders.set(thing, allocation);
      return other ? [{ thing, other }] : [];
    });
    // One line for each two, though they may share an address, its network and a MAC.
    return [...new Map(others.toReversed().map((each) => [each.other.seq, each])).values()].map(
      ({ thing, other }): Disagreement => {
        const [one, two] = [other, allocation].map((each) => `Pod ${podOf(each.attachment)} (event ${each.seq})`);
        const remedy = 'this must never happen: stop one of them, keep a copy of etcd, and report it';
        return { kind: 'held twice', where: thing, what: `${one} and ${two} both hold it`, remedy };
      },
    );
  });
}

function thingsHeld({ attachment, subnet, addresses, mac }: Allocation): string[] {
  const things = addresses.flatMap(({ address }) => [
    `${address} of subnet ${subnet}`,
    `${address} on network ${attachment?.provider}`,
  ]);
  things.push(`attachment ${attachment?.ordinal} to ${attachment?.provider} of Pod ${podOf(attachment)}`);
  if (mac !== '') things.push(`MAC ${mac} in subnet ${subnet}`);
  return things;
}

/** What the ledger counts is what its allocations come to. */
export function compareCounts({ ledger }: Picture): Disagreement[] {
  return ledger.subnets.flatMap(({ name, spec, usage }) => {
    const excluded = excludedBy(spec);
    const own = ledger.allocations.filter(({ subnet }) => subnet === name).flatMap(({ addresses }) => addresses);
    return usage.flatMap(({ family, inUse }): Disagreement[] => {
      const held = own.filter(({ address }) => isIPv4(address) === (family === 4) && !excluded(address)).length;
      if (held === Number(inUse)) return [];
      const what = `the ledger counts ${inUse} IPv${family} addresses in use, and ${held} are held`;
      return [{ kind: 'count', where: `subnet ${name}`, what, remedy: 'restart the allocator, and report it' }];
    });
  });
}

/** Excluded addresses can be held by who asks for them by name, and are counted nowhere. */
function excludedBy(spec: SubnetSpec | undefined): (address: string) => boolean {
  const excluded = new BlockList();
  for (const range of spec?.excludeIps ?? []) {
    const [first = '', last = first] = range.split('..');
    excluded.addRange(first, last, isIPv4(first) ? 'ipv4' : 'ipv6');
  }
  return (address) => excluded.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** An address that a container may still answer on, though no Pod holds it, is given to nobody. */
export function compareBindings({ ledger }: Picture): Disagreement[] {
  const held = new Set(
    ledger.allocations.flatMap(({ subnet, addresses }) => addresses.map(({ address }) => `${subnet}/${address}`)),
  );
  return ledger.bindings.flatMap(({ attachment, subnet, addresses, binding }) => {
    if (addresses.some((address) => held.has(`${subnet}/${address}`))) return [];
    const { containerId = '', interface: name = '', node = '' } = binding ?? {};
    const what = `container ${containerId} (${name}) on node ${node} may still answer on it, and Pod ${podOf(attachment)} holds it no more`;
    const remedy = `is node ${node} away, or its agent? The container's CNI DEL frees it; else the subnet's binding timeout does`;
    return [{ kind: 'held back', where: `${addresses.join(',')} of subnet ${subnet}`, what, remedy }];
  });
}

/** An address whose key in etcd was changed by something else is out of use until a person has looked at it. */
export function compareFences({ ledger }: Picture): Disagreement[] {
  const byAddress = new Map(
    ledger.allocations.flatMap((allocation) =>
      allocation.addresses.map(({ address }) => [`${allocation.subnet}/${address}`, allocation] as const),
    ),
  );
  return ledger.subnets.flatMap(({ name, fenced }) =>
    fenced.map((address): Disagreement => {
      const holder = byAddress.get(`${name}/${address}`);
      const whose = holder ? `; the ledger says Pod ${podOf(holder.attachment)} holds ${said(holder)}` : '';
      const what = `its key in etcd was changed by something else than ipledger: it is fenced${whose}`;
      const remedy = 'put back what the log says of it (ipledger history), then restart the allocator';
      return { kind: 'fenced', where: `${address} of subnet ${name}`, what, remedy };
    }),
  );
}
