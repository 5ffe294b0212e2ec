import { expect } from 'chai';
import type { Allocation } from '../../proto/ipledger.ts';
import { disagreements } from './agreement.ts';
import type { Picture } from './picture.ts';

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
const agreed = {
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
          resting: '0',
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

const asPicture = (parts: object): Picture => ({ ...agreed, ...parts }) as unknown as Picture;

/** A copy of what all agree on, with one thing changed in it. */
function changed(change: (copy: typeof agreed) => void): Picture {
  const copy = structuredClone(agreed);
  change(copy);
  return asPicture(copy);
}

describe('agreement', () => {
  it('is there when everything shows the same', () => {
    expect(disagreements(asPicture({}))).to.deep.equal([]);
  });

  const [claim, pod, ip, object] = ['lan/10.0.0.2', agreed.pods[0], agreed.ips[0], agreed.subnetObjects[0]] as const;
  const cases: readonly [string, Picture, RegExp][] = [
    [
      'a claim without allocation',
      changed((copy) => void (copy.allocations = [])),
      /addr\/lan\/10.0.0.2 is held by Pod web .*knows of no such/,
    ],
    ['an allocation without claim', changed((copy) => void copy.claims.delete(claim)), /etcd has no key addr\/lan\/10/],
    [
      'a claim of another uid',
      changed((copy) => void ((copy.claims.get(claim)?.holder ?? { uid: '' }).uid = 'uid-2')),
      /is held by Pod web \(uid uid-2, event 7\)/,
    ],
    [
      'an address that is held twice',
      changed((copy) => void copy.allocations.push({ ...allocation, seq: 8, podUid: 'uid-9' })),
      /address 10.0.0.2 of subnet lan is held twice/,
    ],
    [
      'a MAC that is held twice',
      changed(
        (copy) =>
          void copy.allocations.push({
            ...allocation,
            addresses: [{ address: '10.0.0.3', cidr: '', gateway: '' }],
          }),
      ),
      /MAC 02:00:00:00:00:0a in subnet lan is held twice/,
    ],
    ['a Pod that is gone', changed((copy) => void (copy.pods = [])), /is held, and there is no such Pod/],
    [
      'a Pod that was replaced by its namesake',
      asPicture({ pods: [{ ...pod, metadata: { ...pod?.metadata, uid: 'uid-2' } }] }),
      /the Pod of that name has uid uid-2/,
    ],
    [
      'a Pod that has ended',
      asPicture({ pods: [{ ...pod, status: { phase: 'Succeeded' } }] }),
      /the Pod has ended \(Succeeded\)/,
    ],
    [
      'an annotation that shows another address',
      changed(
        (copy) => void Object.assign(copy.pods[0]?.metadata.annotations ?? {}, { [`${key}/ip_address`]: '10.0.0.3' }),
      ),
      /ip_address of Pod default\/web is "10.0.0.3", and should be "10.0.0.2"/,
    ],
    [
      'an annotation of what nobody holds',
      changed(
        (copy) =>
          void Object.assign(copy.pods[0]?.metadata.annotations ?? {}, {
            'wan.default.kubernetes.io/allocated': 'true',
          }),
      ),
      /wan.default.kubernetes.io\/allocated of Pod default\/web says that it has an address, and it holds none/,
    ],
    ['a missing IP object', asPicture({ ips: [] }), /there is no IP object web.default.lan.default/],
    [
      'an IP object of nobody',
      asPicture({ ips: [ip, { metadata: { name: 'x', uid: 'x' }, spec: { ipAddress: '10.0.0.8' } }] }),
      /IP object x shows 10.0.0.8, which nobody holds/,
    ],
    [
      'an IP object that shows another address',
      asPicture({ ips: [{ ...ip, spec: { ...ip?.spec, ipAddress: '10.0.0.3' } }] }),
      /IP object web.default.lan.default says ipAddress "10.0.0.3"/,
    ],
    [
      'a Subnet status that counts wrong',
      asPicture({ subnetObjects: [{ ...object, status: { ...object?.status, v4usingIPs: 2 } }] }),
      /status.v4usingIPs of Subnet lan is 2, and should be "1"/,
    ],
    [
      'a ledger that counts wrong',
      changed((copy) => void Object.assign(copy.subnets[0]?.usage[0] ?? {}, { inUse: '2', available: '251' })),
      /the ledger counts 2 IPv4 addresses of subnet lan in use; 1 are held/,
    ],
  ];
  for (const [what, picture, sentence] of cases)
    it(`is not there with ${what}`, () => {
      expect(disagreements(picture).join('\n')).to.match(sentence);
    });

  it('is there when a status cuts a long range short', () => {
    const range = { availableRange: '10.0.0.3,10.0.0.5-10.0.0.9,10.0.0.11-10.0.0.254' };
    const subnets = agreed.subnets.map(({ usage, ...rest }) => ({ ...rest, usage: [{ ...usage[0], ...range }] }));
    const cut = (v4availableIPrange: string) => [{ ...object, status: { ...object?.status, v4availableIPrange } }];
    expect(disagreements(asPicture({ subnets, subnetObjects: cut('10.0.0.3,10.0.0.5-10.0.0.9,...') }))).to.deep.equal(
      [],
    );
    expect(disagreements(asPicture({ subnets, subnetObjects: cut('10.0.0.4,...') }))).to.have.length(1);
  });

  it('does not need a Subnet object, nor annotations of a Pod that has ended', () => {
    const ended = { ...pod, status: { phase: 'Succeeded' } };
    expect(disagreements(asPicture({ subnetObjects: [] }))).to.deep.equal([]);
    const idle = agreed.subnets.map((subnet) => ({ ...subnet, usage: [] }));
    const nothing = { allocations: [], claims: new Map(), ips: [], subnets: idle, pods: [ended] };
    expect(disagreements(asPicture(nothing))).to.deep.equal([]);
  });
});
