import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type { ReserveRequest, UnreserveRequest } from '../../../proto/ipledger.ts';
import { FakeSource, silent, until } from '../fakes.ts';
import { type IpObject, ips, type VipObject, vips } from '../kubernetes/kept-objects.ts';
import { type Raw, record } from '../../../lib/raw.ts';
import type { Reserved } from '../ledger/facts.ts';
import { Reservations } from './reservations.ts';
import { isReserving, reservedDifferences, reservedReasons, reservedShown, reservedWish } from './reserved.ts';
import { vipDifferences, vipReasons, vipShown, vipWish } from './vips.ts';

const deletionTimestamp = '2026-11-17T14:05:00Z';
const finalizers = ['ipledger.io/ledger'];
const vip = (spec: object, metadata: object = {}): VipObject =>
  vips.parse({ metadata: { name: 'web', uid: 'u', generation: 1, ...metadata }, spec });
const ip = (name: string, spec: object, metadata: object = {}): IpObject =>
  ips.parse({ metadata: { name, uid: 'u', generation: 1, ...metadata }, spec });
const ofVip: Reserved = {
  seq: 60,
  subnet: 'lan',
  address: '10.0.0.9',
  reservedFor: 'vip/web',
  reason: 'Vip object web',
  mac: '',
};

describe('objects that hold an address', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** What they share with each other, and what was done with it. */
  function world() {
    const asked: (Input<ReserveRequest> | Input<UnreserveRequest>)[] = [];
    const shown: Raw[] = [];
    const status: Raw[] = [];
    const said: string[] = [];
    const answers: { refuse?: IpledgerError; addresses: string[] } = { addresses: ['10.0.0.9'] };
    const answer = (request: Input<ReserveRequest>) => {
      asked.push(request);
      if (answers.refuse) return Promise.reject(answers.refuse);
      const records = answers.addresses.map((address) => ({ address, subnet: 'lan' }));
      return Promise.resolve({ records } as never);
    };
    const shared = {
      allocator: { reserve: answer, unreserve: (request: Input<UnreserveRequest>) => answer(request) },
      write: (_object: unknown, body: Raw) => Promise.resolve(void shown.push(body)),
      writeStatus: (_object: unknown, body: Raw) => Promise.resolve(void status.push(body)),
      whyNoSubnet: (subnet: string, namespace: string) =>
        subnet === 'lan' && namespace === 'other' ? 'Subnet lan is not for namespace other' : undefined,
      say: (_object: unknown, { message }: { message: string }) => void said.push(message),
      log: silent,
      signal: stop.signal,
    };
    return { asked, shown, status, said, answers, shared };
  }

  function ofVips(known: Reserved[] = []) {
    const base = world();
    const objects = new FakeSource<VipObject>();
    const reservations = new Reservations<VipObject>({
      ...base.shared,
      objects,
      reason: 'Vip object ',
      wish: vipWish,
      shown: vipShown,
      differences: vipDifferences,
      reasons: vipReasons,
    });
    reservations.snapshot({ seq: 50, holdings: [], subnets: [], pools: [], reservations: known });
    return { ...base, objects, reservations };
  }

  function ofPods() {
    const base = world();
    const objects = new FakeSource<IpObject>();
    const reservations = new Reservations<IpObject>({
      ...base.shared,
      objects,
      concerns: isReserving,
      reason: 'IP object ',
      wish: (object) => reservedWish(object, (subnet) => (subnet === 'lan' ? 'lan.default' : '')),
      shown: reservedShown,
      differences: reservedDifferences,
      reasons: reservedReasons,
    });
    return { ...base, objects, reservations };
  }

  it('of a namespace that may not use the Subnet is refused with an Event, and takes no address', async () => {
    const vipsWorld = ofVips();
    vipsWorld.objects.put(vip({ subnet: 'lan', namespace: 'other' }));
    void vipsWorld.reservations.start();
    const ipsWorld = ofPods();
    ipsWorld.objects.put(ip('db.other.lan.default', { subnet: 'lan', podName: 'db', namespace: 'other' }));
    void ipsWorld.reservations.start();
    for (const { said, asked } of [vipsWorld, ipsWorld]) {
      await until(() => said.length > 0);
      expect(said).to.deep.equal(['Subnet lan is not for namespace other']);
      expect(asked).to.deep.equal([]);
    }
  });

  it('of a namespace that may no longer use the Subnet keeps its address', async () => {
    const { objects, reservations, asked, said } = ofVips([ofVip]);
    objects.put(vip({ subnet: 'lan', namespace: 'other' }));
    await reservations.start();
    expect({ asked: asked.length, said }).to.deep.equal({ asked: 1, said: [] });
  });

  it('a Vip is reserved under its name, and shows the address once it has it', async () => {
    const { objects, reservations, asked, shown, status } = ofVips();
    objects.put(vip({ subnet: 'lan' }));
    await reservations.start();
    expect(asked).to.deep.equal([
      { subnet: 'lan', mac: '', reservedFor: 'vip/web', addresses: [], reason: 'Vip object web' },
    ]);
    expect(shown).to.deep.equal([
      {
        metadata: {
          uid: 'u',
          resourceVersion: '',
          finalizers,
          labels: { 'ovn.kubernetes.io/subnet': 'lan', 'ovn.kubernetes.io/ip_reserved': '' },
        },
        spec: { v4ip: '10.0.0.9' },
      },
    ]);
    const labels = { 'ovn.kubernetes.io/subnet': 'lan', 'ovn.kubernetes.io/ip_reserved': '' };
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }, { finalizers, labels, generation: 2 }));
    await until(() => status.length > 0);
    expect(status[0]).to.include({ v4ip: '10.0.0.9' });
  });

  it('a Vip that goes gives its address back first, also one that went while nobody looked', async () => {
    const { objects, reservations, asked, shown } = ofVips([
      ofVip,
      { ...ofVip, reservedFor: 'vip/x', reason: 'by hand' },
    ]);
    objects.put(vip({ subnet: 'lan' }, { deletionTimestamp, finalizers }));
    await reservations.start();
    const unreserve = { subnet: 'lan', reservedFor: 'vip/web', addresses: [], reason: 'Vip object web was deleted' };
    expect(asked).to.deep.equal([unreserve]);
    expect(record(shown[0]?.['metadata'])['finalizers']).to.deep.equal([]);
    const late = ofVips();
    await late.reservations.start();
    late.reservations.facts([{ kind: 'reserved', reserved: ofVip }]);
    await until(() => late.asked.length > 0);
    expect(late.asked).to.deep.equal([unreserve]);
  });

  it('a Vip whose reservation somebody ended has it again, and says what keeps it from that', async () => {
    const { objects, reservations, asked, said, answers } = ofVips([ofVip]);
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    await reservations.start();
    answers.refuse = new IpledgerError(
      'ADDRESS_IN_USE',
      'AddressConflict: 10.0.0.9 of subnet lan is in use by Pod default/a',
    );
    reservations.facts([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.9', reservedFor: 'vip/web' }]);
    await until(() => said.length > 0);
    delete answers.refuse;
    const before = asked.length;
    reservations.facts([
      { kind: 'ended', seq: 7, subnet: 'lan', namespace: 'default', pod: 'a', uid: 'u', addresses: ['10.0.0.9'] },
    ]);
    await until(() => asked.length > before);
    expect(said).to.deep.equal(['AddressConflict: 10.0.0.9 of subnet lan is in use by Pod default/a']);
  });

  it('a Vip that waits for an address asks again when that one is free, and for no other', async () => {
    const { objects, reservations, asked, answers } = ofVips();
    answers.refuse = new IpledgerError('ADDRESS_IN_USE', 'in use');
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    await reservations.start();
    asked.length = 0;
    const freed = (subnet: string, address: string) =>
      reservations.facts([
        { kind: 'ended', seq: 7, subnet, namespace: 'default', pod: 'a', uid: 'u', addresses: [address] },
      ]);
    freed('elsewhere', '10.0.0.9');
    freed('lan', '10.0.0.8');
    expect(asked).to.deep.equal([]);
    freed('lan', '10.0.0.9');
    expect(asked).to.have.length(1);
  });

  it('a Vip over a limit asks for nothing, and says which limit', async () => {
    const { objects, reservations, asked, said } = ofVips();
    objects.put(vip({ subnet: 'lan', v4ip: '1'.repeat(65) }));
    await reservations.start();
    expect(asked).to.deep.equal([]);
    expect(said).to.deep.equal(['spec.v4ip has 65 characters, and at most 64 are taken: shorten it']);
  });

  it('an IP object of a Pod to come is reserved for just that Pod', async () => {
    const { objects, reservations, asked, shown } = ofPods();
    objects.put(ip('a.default.lan.default', { podName: 'a', namespace: 'default', subnet: 'lan' }));
    await reservations.start();
    expect(asked).to.deep.equal([
      {
        subnet: 'lan',
        addresses: [],
        reservedFor: 'pod/default/a/lan.default',
        mac: '',
        reason: 'IP object a.default.lan.default',
      },
    ]);
    expect(shown[0]).to.deep.include({ spec: { ipAddress: '10.0.0.9', v4IpAddress: '10.0.0.9' } });
    expect(record(shown[0]?.['metadata'])).to.deep.include({
      finalizers,
      labels: { 'ovn.kubernetes.io/subnet': 'lan', lan: '', 'ovn.kubernetes.io/ip_reserved': 'true' },
    });
  });

  it('an IP object that cannot be served says why', async () => {
    const { objects, reservations, asked, said } = ofPods();
    const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
    objects.put(ip('a', { ...pod, subnet: '' }));
    objects.put(ip('b', { ...pod, podType: 'Deployment' }));
    objects.put(ip('c', { ...pod, v6IpAddress: 'FD00::9' }));
    objects.put(ip('d', { ...pod, subnet: 'elsewhere' }));
    await reservations.start();
    expect(said).to.deep.equal([
      'subnet parameter cannot be empty',
      'podType Deployment is not supported',
      'v6 ip address FD00::9 can not contain upper case',
      'subnet elsewhere does not exist in IPAM: the IP waits for it',
    ]);
    expect(asked).to.deep.equal([]);
  });

  it('other IP objects are left alone: another name, our own projection, Kube-OVN’s', async () => {
    const { objects, reservations, asked, shown, said } = ofPods();
    const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
    objects.put(ip('another-name', pod));
    objects.put(ip('ours', pod, { annotations: { 'ipledger.io/allocation': '7' } }));
    objects.put(ip('theirs', pod, { finalizers: ['kubeovn.io/kube-ovn-controller'] }));
    await reservations.start();
    expect([asked, shown, said]).to.deep.equal([[], [], []]);
  });
});
