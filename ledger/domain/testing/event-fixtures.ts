/** Events and commands for specs, with defaults for all fields. */
import type { Command } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import type { SubnetSpec } from '../values/configuration.ts';
import type { UnbindCause } from '../values/allocation.ts';
import type { Untimed } from './given-when-then.ts';

const plainSpec: SubnetSpec = {
  cidrBlock: '172.17.0.0/16',
  gateway: '172.17.0.1',
  excludeIps: ['172.17.0.0..172.17.0.10'],
  provider: 'macvlan.default',
  protocol: 'IPv4',
  cooldownMs: 60_000,
  bindingTimeoutMs: 3_600_000,
};

/** The Subnet of the examples in the documents, changed by `spec`. */
export const subnetConfigured = (name = 'macvlan', spec: Partial<SubnetSpec> = {}): Event => ({
  type: 'SubnetConfigured',
  subnet: name,
  data: { spec: { ...plainSpec, ...spec } },
});

/** A Subnet with three usable addresses: .2, .3 and .4. */
export const smallSubnet = (spec: Partial<SubnetSpec> = {}): Event =>
  subnetConfigured('small', {
    cidrBlock: '10.0.0.0/29',
    gateway: '10.0.0.1',
    excludeIps: ['10.0.0.1', '10.0.0.5..10.0.0.6'],
    provider: 'small.default',
    ...spec,
  });

type Granted = Extract<Event, { type: 'AddressAllocated' }>;

interface GrantFields {
  readonly uid?: string;
  readonly subnet?: string;
  readonly provider?: string;
  readonly ordinal?: number;
  readonly cause?: Granted['data']['cause'];
  readonly mac?: string;
  readonly interface?: string;
  readonly node?: string;
}

/** An allocation of `address` to `pod` in namespace default, in the /16 or in the small Subnet. */
export function allocated(pod: string, address: string, fields: GrantFields = {}): Granted {
  const { uid = `uid-${pod}`, subnet = 'macvlan', provider = `${subnet}.default`, ordinal = 0 } = fields;
  const [cidr, gateway] = subnet === 'small' ? ['10.0.0.0/29', '10.0.0.1'] : ['172.17.0.0/16', '172.17.0.1'];
  return {
    type: 'AddressAllocated',
    subnet,
    data: {
      attachment: { namespace: 'default', pod, provider, ordinal },
      uid,
      node: fields.node ?? '',
      addresses: [{ address, cidr, gateway }],
      mac: fields.mac ?? '',
      interface: fields.interface ?? '',
      cause: fields.cause ?? 'dynamic',
      routes: [],
    },
  };
}

/** The release of an allocation. */
export const released = (
  { subnet, data: { attachment, uid, addresses } }: Granted,
  alloc: number,
  options: { cause?: 'pod-deleted' | 'pod-completed' | 'detached'; evidence?: string } = {},
): Event => ({
  type: 'AddressReleased',
  subnet,
  data: {
    alloc,
    attachment,
    uid,
    addresses: addresses.map(({ address }) => address),
    cause: options.cause ?? 'pod-deleted',
    evidence: options.evidence ?? '',
    ...(options.cause !== 'detached' && { ended: true }),
  },
});

/** The transfer of an allocation to another uid of the same Pod name. */
export const transferred = (
  { subnet, data }: Granted,
  alloc: number,
  uid: string,
): Extract<Event, { type: 'AddressTransferred' }> => ({
  type: 'AddressTransferred',
  subnet,
  data: { ...data, uid, alloc, fromUid: data.uid, ended: true },
});

export const bound = (
  { subnet, data: { attachment, uid, addresses } }: Pick<Granted, 'subnet' | 'data'>,
  alloc: number,
  sandbox: { containerId?: string; interface?: string; node?: string; bootId?: string } = {},
): Event => ({
  type: 'AddressBound',
  subnet,
  data: {
    alloc,
    attachment,
    uid,
    addresses: addresses.map(({ address }) => address),
    containerId: sandbox.containerId ?? 'container-1',
    interface: sandbox.interface ?? 'net1',
    node: sandbox.node ?? 'node-1',
    bootId: sandbox.bootId ?? 'boot-1',
  },
});

export const unbound = (
  { subnet, data: { attachment, addresses } }: Granted,
  containerId = 'container-1',
  more: { interface?: string; cause?: UnbindCause; evidence?: string } = {},
): Event => ({
  type: 'AddressUnbound',
  subnet,
  data: {
    attachment,
    addresses: addresses.map(({ address }) => address),
    containerId,
    interface: 'net1',
    cause: 'container-deleted',
    ...more,
  },
});

type Allocate = Untimed<Extract<Command, { type: 'Allocate' }>>;

/** A request of `pod` for one attachment, in the /16 by default. */
export const allocate = (
  pod: string,
  attachment: Partial<Allocate['attachments'][number]> = {},
  more: Partial<Allocate['pod'] & { deadline: number; seenSeq: number }> = {},
): Allocate => allocateAll(pod, [attachment], more);

/** A request of `pod` for several attachments. */
export function allocateAll(
  pod: string,
  attachments: readonly Partial<Allocate['attachments'][number]>[],
  { deadline, seenSeq, ...more }: Partial<Allocate['pod'] & { deadline: number; seenSeq: number }> = {},
): Allocate {
  return {
    type: 'Allocate',
    pod: { namespace: 'default', name: pod, uid: `uid-${pod}`, node: '', ...more },
    attachments: attachments.map((attachment) => ({
      provider: 'macvlan.default',
      ordinal: 0,
      interface: '',
      subnets: ['macvlan'],
      candidates: [],
      pool: '',
      ipFamily: '',
      reservation: '',
      mac: '',
      routes: [],
      ...attachment,
    })),
    ...(deadline !== undefined && { deadline }),
    ...(seenSeq !== undefined && { seenSeq }),
  };
}

/** A pool of the /16, or of another Subnet. */
export const poolConfigured = (pool: string, ips: readonly string[], subnet = 'macvlan'): Event => ({
  type: 'PoolConfigured',
  subnet,
  data: { pool, spec: { subnet, ips, namespaces: [] } },
});

export const reserved = (
  reservedFor: string,
  addresses: readonly string[],
  { subnet = 'macvlan', mac = '' }: { subnet?: string; mac?: string } = {},
): Event => ({ type: 'AddressReserved', subnet, data: { addresses, reservedFor, reason: 'kept', mac } });

export const quarantined = (address: string, subnet = 'macvlan'): Event => ({
  type: 'AddressQuarantined',
  subnet,
  data: { address, seenMac: '52:54:00:00:00:01', seenAt: 'node-1', reason: 'a printer' },
});
