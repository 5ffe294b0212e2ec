import { expect } from 'chai';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { findInconsistencies } from './consistency.ts';
import type { SystemSnapshot } from './system-snapshot.ts';

const allocation: Allocation = {
  seq: 7,
  attachment: { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 },
  podUid: 'uid-1',
  node: 'node-1',
  subnet: 'lan',
  addresses: [{ address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
  mac: '02:00:00:00:00:0a',
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '2026-01-31T08:00:00.000Z',
  bindings: [],
  network: 'lan.default',
};

const key = 'lan.default.kubernetes.io';
const consistent = {
  allocations: [allocation],
  subnets: [
    {
      name: 'lan',
      spec: {
        cidrBlock: '10.0.0.0/24',
        gateway: '10.0.0.1',
        excludeIps: ['10.0.0.1'],
        provider: 'lan.default',
        protocol: 'IPv4',
      },
      usage: [
        {
          family: 4,
          total: '253',
          inUse: '1',
          reserved: '0',
          available: '252',
          inUseRange: '10.0.0.2',
          availableRange: '10.0.0.3-10.0.0.254',
          cooldown: '0',
        },
      ],
    },
  ],
  claims: new Map([
    ['lan/10.0.0.2', { last: 7, alloc: 7, holder: { uid: 'uid-1', attachment: { pod: 'web' } }, bindings: [] }],
    ['lan/10.0.0.9', { last: 6, bindings: [] }],
  ]),
  pods: [
    {
      metadata: {
        name: 'web',
        namespace: 'default',
        uid: 'uid-1',
        annotations: {
          [`${key}/ip_address`]: '10.0.0.2',
          [`${key}/mac_address`]: '02:00:00:00:00:0A',
          [`${key}/cidr`]: '10.0.0.0/24',
          [`${key}/gateway`]: '10.0.0.1',
          [`${key}/allocated`]: 'true',
        },
      },
      spec: { restartPolicy: 'Never' },
      status: { phase: 'Running' },
    },
  ],
  ips: [
    {
      metadata: { name: 'web.default.lan.default', uid: 'i', annotations: { 'ipledger.io/allocation': '7' } },
      spec: {
        podName: 'web',
        namespace: 'default',
        subnet: 'lan',
        ipAddress: '10.0.0.2',
        macAddress: '02:00:00:00:00:0a',
      },
    },
  ],
  subnetObjects: [
    {
      metadata: { name: 'lan', uid: 's' },
      status: {
        v4availableIPs: 252,
        v4usingIPs: 1,
        v4availableIPrange: '10.0.0.3-10.0.0.254',
        v4usingIPrange: '10.0.0.2',
      },
    },
  ],
};

const asSnapshot = (parts: object): SystemSnapshot => ({ ...consistent, ...parts }) as unknown as SystemSnapshot;

/** Copies the consistent snapshot and makes one change. */
function withChange(change: (copy: typeof consistent) => void): SystemSnapshot {
  const copy = structuredClone(consistent);
  change(copy);
  return asSnapshot(copy);
}

describe('findInconsistencies', () => {
  it('findInconsistencies finds nothing when all views agree', () => {
    expect(findInconsistencies(asSnapshot({}))).to.deep.equal([]);
  });

  const [claim, pod, ip, object] = [
    'lan/10.0.0.2',
    consistent.pods[0],
    consistent.ips[0],
    consistent.subnetObjects[0],
  ] as const;
  const cases: readonly [string, SystemSnapshot, RegExp][] = [
    [
      'a claim without allocation',
      withChange((copy) => void (copy.allocations = [])),
      /addr\/lan\/10.0.0.2 is held by Pod web .*has no such/,
    ],
    [
      'an allocation without claim',
      withChange((copy) => void copy.claims.delete(claim)),
      /etcd has no key addr\/lan\/10/,
    ],
    [
      'a claim with another uid',
      withChange((copy) => void ((copy.claims.get(claim)?.holder ?? { uid: '' }).uid = 'uid-2')),
      /is held by Pod web \(uid uid-2, event 7\)/,
    ],
    [
      'an address that is held twice',
      withChange((copy) => void copy.allocations.push({ ...allocation, seq: 8, podUid: 'uid-9' })),
      /address 10.0.0.2 of subnet lan is held twice/,
    ],
    [
      'a MAC that is held twice',
      withChange(
        (copy) =>
          void copy.allocations.push({
            ...allocation,
            addresses: [{ address: '10.0.0.3', cidr: '', gateway: '' }],
          }),
      ),
      /MAC 02:00:00:00:00:0a in subnet lan is held twice/,
    ],
    [
      'an allocation of a deleted Pod',
      withChange((copy) => void (copy.pods = [])),
      /is held, and there is no such Pod/,
    ],
    [
      'an allocation of an earlier Pod of the same name',
      asSnapshot({ pods: [{ ...pod, metadata: { ...pod?.metadata, uid: 'uid-2' } }] }),
      /the Pod of that name has uid uid-2/,
    ],
    [
      'an allocation of a terminated Pod',
      asSnapshot({ pods: [{ ...pod, status: { phase: 'Succeeded' } }] }),
      /the Pod has ended \(Succeeded\)/,
    ],
    [
      'an annotation that shows another address',
      withChange(
        (copy) => void Object.assign(copy.pods[0]?.metadata.annotations ?? {}, { [`${key}/ip_address`]: '10.0.0.3' }),
      ),
      /ip_address of Pod default\/web is "10.0.0.3", and should be "10.0.0.2"/,
    ],
    [
      'an annotation without allocation',
      withChange(
        (copy) =>
          void Object.assign(copy.pods[0]?.metadata.annotations ?? {}, {
            'wan.default.kubernetes.io/allocated': 'true',
          }),
      ),
      /wan.default.kubernetes.io\/allocated of Pod default\/web shows an address, and the Pod holds none/,
    ],
    ['a missing IP object', asSnapshot({ ips: [] }), /there is no IP object web.default.lan.default/],
    [
      'an IP object without allocation',
      asSnapshot({ ips: [ip, { metadata: { name: 'x', uid: 'x' }, spec: { ipAddress: '10.0.0.8' } }] }),
      /IP object x shows 10.0.0.8, which no Pod holds/,
    ],
    [
      'an IP object that shows another address',
      asSnapshot({ ips: [{ ...ip, spec: { ...ip?.spec, ipAddress: '10.0.0.3' } }] }),
      /IP object web.default.lan.default has ipAddress "10.0.0.3"/,
    ],
    [
      'a Subnet status with a wrong count',
      asSnapshot({ subnetObjects: [{ ...object, status: { ...object?.status, v4usingIPs: 2 } }] }),
      /status.v4usingIPs of Subnet lan is 2, and should be "1"/,
    ],
    [
      'a wrong count in the ledger',
      withChange((copy) => void Object.assign(copy.subnets[0]?.usage[0] ?? {}, { inUse: '2', available: '251' })),
      /the ledger counts 2 IPv4 addresses of subnet lan in use; 1 are held/,
    ],
  ];
  for (const [title, snapshot, message] of cases)
    it(`findInconsistencies finds ${title}`, () => {
      expect(findInconsistencies(snapshot).join('\n')).to.match(message);
    });

  it('findInconsistencies accepts a status that truncates a long range', () => {
    const range = { availableRange: '10.0.0.3,10.0.0.5-10.0.0.9,10.0.0.11-10.0.0.254' };
    const subnets = consistent.subnets.map(({ usage, ...rest }) => ({ ...rest, usage: [{ ...usage[0], ...range }] }));
    const truncated = (v4availableIPrange: string) => [
      { ...object, status: { ...object?.status, v4availableIPrange } },
    ];
    expect(
      findInconsistencies(asSnapshot({ subnets, subnetObjects: truncated('10.0.0.3,10.0.0.5-10.0.0.9,...') })),
    ).to.deep.equal([]);
    expect(findInconsistencies(asSnapshot({ subnets, subnetObjects: truncated('10.0.0.4,...') }))).to.have.length(1);
  });

  it('findInconsistencies accepts a missing Subnet object, and the annotations of a terminated Pod', () => {
    const ended = { ...pod, status: { phase: 'Succeeded' } };
    expect(findInconsistencies(asSnapshot({ subnetObjects: [] }))).to.deep.equal([]);
    const idle = consistent.subnets.map((subnet) => ({ ...subnet, usage: [] }));
    const empty = { allocations: [], claims: new Map(), ips: [], subnets: idle, pods: [ended] };
    expect(findInconsistencies(asSnapshot(empty))).to.deep.equal([]);
  });
});
