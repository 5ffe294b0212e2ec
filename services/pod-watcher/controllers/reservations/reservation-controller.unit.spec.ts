import { expect } from 'chai';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { ReserveRequest, UnreserveRequest } from '../../../../proto/generated/ipledger.ts';
import { appliedSubnet, FakeInformer, silentLogger, until } from '../../testing/fakes.ts';
import { type IpObject, ips } from '../../kubernetes/objects/ip.ts';
import { type VipObject, vips } from '../../kubernetes/objects/vip.ts';
import { type UntypedJson, asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ReservedAddress } from '../../ledger/ledger-events.ts';
import { ReservationController } from './reservation-controller.ts';
import {
  isIpReservation,
  ipReservationDifferences,
  ipReservationReasons,
  appliedIpFields,
  desiredIpReservation,
} from './ip-reservation.ts';
import { type Condition, fieldsIgnored } from '../object-controller/conditions.ts';
import { vipDifferences, vipReasons, appliedVipFields, desiredVipReservation } from './vip-reservation.ts';

const deletionTimestamp = '2026-11-17T14:05:00Z';
const finalizers = ['ipledger.io/ledger'];
const vip = (spec: object, metadata: object = {}): VipObject =>
  vips.parse({ metadata: { name: 'web', uid: 'u', generation: 1, ...metadata }, spec });
const ip = (name: string, spec: object, metadata: object = {}): IpObject =>
  ips.parse({ metadata: { name, uid: 'u', generation: 1, ...metadata }, spec });
const ofVip: ReservedAddress = {
  seq: 60,
  subnet: 'lan',
  address: '10.0.0.9',
  reservedFor: 'vip/web',
  reason: 'Vip object web',
  mac: '',
};

describe('an object that reserves an address', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world() {
    const requests: (MessageInput<ReserveRequest> | MessageInput<UnreserveRequest>)[] = [];
    const patches: UntypedJson[] = [];
    const status: UntypedJson[] = [];
    const eventMessages: string[] = [];
    const answers: {
      refuse?: IpledgerError;
      refuseIf?: (request: { readonly addresses?: readonly string[] | undefined }) => IpledgerError | undefined;
      addresses: string[];
    } = { addresses: ['10.0.0.9'] };
    const answer = (request: MessageInput<ReserveRequest>) => {
      requests.push(request);
      const refusal = answers.refuse ?? answers.refuseIf?.(request);
      if (refusal) return Promise.reject(refusal);
      const addresses = request.addresses?.length ? request.addresses : answers.addresses;
      const records = addresses.map((address) => ({ address, subnet: 'lan' }));
      return Promise.resolve({ records });
    };
    /** Why Subnet lan gives no new address. */
    const suspension: { reason?: string } = {};
    const shared = {
      allocator: fakeLedgerClient({ reserve: answer, unreserve: async (request) => (await answer(request), {}) }),
      write: (_object: unknown, body: UntypedJson) => Promise.resolve(void patches.push(body)),
      writeStatus: (_object: unknown, body: UntypedJson) => Promise.resolve(void status.push(body)),
      subnetAccessRefusal: (subnet: string, namespace: string) =>
        subnet === 'lan' && namespace === 'other' ? 'Subnet lan is not for namespace other' : undefined,
      suspensionOf: (subnet: string) => (subnet === 'lan' ? suspension.reason : undefined),
      recordEvent: (_object: unknown, { message }: { message: string }) => void eventMessages.push(message),
      log: silentLogger,
      signal: stop.signal,
    };
    return { requests, patches, status, eventMessages, answers, suspension, shared };
  }

  function createVipWorld(present: ReservedAddress[] = []) {
    const base = world();
    const objects = new FakeInformer<VipObject>();
    const reservations = new ReservationController<VipObject>({
      ...base.shared,
      objects,
      reasonPrefix: 'Vip object ',
      desired: desiredVipReservation,
      appliedFields: appliedVipFields,
      differences: vipDifferences,
      warnings: (object) => [fieldsIgnored(object)],
      reasons: vipReasons,
    });
    reservations.onSnapshot({ seq: 50, allocations: [], subnets: [], pools: [], reservations: present });
    return { ...base, objects, reservations };
  }

  function createIpWorld() {
    const base = world();
    const objects = new FakeInformer<IpObject>();
    const reservations = new ReservationController<IpObject>({
      ...base.shared,
      objects,
      isRelevant: isIpReservation,
      reasonPrefix: 'IP object ',
      desired: (object) => desiredIpReservation(object, (subnet) => (subnet === 'lan' ? 'lan.default' : '')),
      appliedFields: appliedIpFields,
      differences: ipReservationDifferences,
      reasons: ipReservationReasons,
    });
    return { ...base, objects, reservations };
  }

  it('an object that reserves an address shows which of its fields have no effect', async () => {
    const { objects, reservations, status, eventMessages } = createVipWorld();
    const ignoredFields = { selector: ['app:web'], attachSubnets: ['other'], type: 'switch_lb_vip' };
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9', ...ignoredFields }));
    await reservations.start();
    const message = 'spec.selector, spec.attachSubnets, spec.type: no effect; remove it';
    const conditions = status.flatMap((each) => (each['conditions'] ?? []) as Condition[]);
    const ignored = conditions.find(({ type }) => type === 'FieldsIgnored');
    expect(ignored).to.include({ status: 'True', reason: 'FieldsNotServed', message });
    expect(eventMessages).to.include(message);
  });

  it('a reservation for a namespace that may not use the Subnet is rejected with an Event, and gets no address', async () => {
    const vipsWorld = createVipWorld();
    vipsWorld.objects.put(vip({ subnet: 'lan', namespace: 'other' }));
    void vipsWorld.reservations.start();
    const ipsWorld = createIpWorld();
    ipsWorld.objects.put(ip('db.other.lan.default', { subnet: 'lan', podName: 'db', namespace: 'other' }));
    void ipsWorld.reservations.start();
    for (const { eventMessages, requests } of [vipsWorld, ipsWorld]) {
      await until(() => eventMessages.length > 0);
      expect(eventMessages).to.deep.equal(['Subnet lan is not for namespace other']);
      expect(requests).to.deep.equal([]);
    }
  });

  it('a reservation for a namespace that may no longer use the Subnet keeps its address', async () => {
    const { objects, reservations, requests, eventMessages } = createVipWorld([ofVip]);
    objects.put(vip({ subnet: 'lan', namespace: 'other' }));
    await reservations.start();
    expect({ requests: requests.length, eventMessages }).to.deep.equal({ requests: 1, eventMessages: [] });
  });

  it('a Vip reserves an address under its name and shows the address', async () => {
    const { objects, reservations, requests, patches, status } = createVipWorld();
    objects.put(vip({ subnet: 'lan' }));
    await reservations.start();
    expect(requests).to.deep.equal([
      { subnet: 'lan', mac: '', reservedFor: 'vip/web', addresses: [], reason: 'Vip object web' },
    ]);
    expect(patches).to.deep.equal([
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

  it('the address of a Vip is unreserved before its deletion, or when its deletion is detected later', async () => {
    const { objects, reservations, requests, patches } = createVipWorld([
      ofVip,
      { ...ofVip, reservedFor: 'vip/x', reason: 'manual' },
    ]);
    objects.put(vip({ subnet: 'lan' }, { deletionTimestamp, finalizers }));
    await reservations.start();
    const unreserve = { subnet: 'lan', reservedFor: 'vip/web', addresses: [], reason: 'Vip object web was deleted' };
    expect(requests).to.deep.equal([unreserve]);
    expect(asRecord(patches[0]?.['metadata'])['finalizers']).to.deep.equal([]);
    const late = createVipWorld();
    await late.reservations.start();
    late.reservations.onEvents([{ kind: 'reserved', reserved: ofVip }]);
    await until(() => late.requests.length > 0);
    expect(late.requests).to.deep.equal([unreserve]);
  });

  it('a Vip is reserved again after another client ended the reservation, with an Event if that fails', async () => {
    const { objects, reservations, requests, eventMessages, answers } = createVipWorld([ofVip]);
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    await reservations.start();
    answers.refuse = new IpledgerError(
      'ADDRESS_IN_USE',
      'AddressConflict: 10.0.0.9 of subnet lan is in use by Pod default/a',
    );
    reservations.onEvents([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.9', reservedFor: 'vip/web' }]);
    await until(() => eventMessages.length > 0);
    delete answers.refuse;
    const before = requests.length;
    reservations.onEvents([
      { kind: 'released', seq: 7, subnet: 'lan', namespace: 'default', pod: 'a', uid: 'u', addresses: ['10.0.0.9'] },
    ]);
    await until(() => requests.length > before);
    expect(eventMessages).to.deep.equal(['AddressConflict: 10.0.0.9 of subnet lan is in use by Pod default/a']);
  });

  it('a Vip is reserved again after its reservation was lost with the end of the ledger', async () => {
    const { objects, reservations, requests } = createVipWorld([ofVip]);
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    await reservations.start();
    const before = requests.length;
    reservations.onSnapshot({ seq: 40, allocations: [], subnets: [], pools: [], reservations: [] });
    await until(() => requests.length > before);
    expect(requests.at(-1)).to.deep.include({ reservedFor: 'vip/web', addresses: ['10.0.0.9'] });
  });

  it('a Vip is retried only when the address that it names is free', async () => {
    const { objects, reservations, requests, answers } = createVipWorld();
    answers.refuse = new IpledgerError('ADDRESS_IN_USE', 'in use');
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    await reservations.start();
    requests.length = 0;
    const freed = (subnet: string, address: string) =>
      reservations.onEvents([
        { kind: 'released', seq: 7, subnet, namespace: 'default', pod: 'a', uid: 'u', addresses: [address] },
      ]);
    freed('elsewhere', '10.0.0.9');
    freed('lan', '10.0.0.8');
    expect(requests).to.deep.equal([]);
    freed('lan', '10.0.0.9');
    expect(requests).to.have.length(1);
  });

  it('a Vip with a MAC is retried when any address of its Subnet is free, as that may free the MAC', async () => {
    const { objects, reservations, requests, answers } = createVipWorld();
    answers.refuse = new IpledgerError('MAC_IN_USE', 'in use');
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9', macAddress: '02:00:00:00:00:01' }));
    await reservations.start();
    requests.length = 0;
    reservations.onEvents([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.8', reservedFor: 'vip/other' }]);
    expect(requests).to.have.length(1);
  });

  it('a Vip that waits for its Subnet is retried at once when the Subnet is configured', async () => {
    const { objects, reservations, requests, answers } = createVipWorld();
    answers.refuse = new IpledgerError('SUBNET_UNKNOWN', 'there is no subnet lan');
    objects.put(vip({ subnet: 'lan' }));
    await reservations.start();
    requests.length = 0;
    reservations.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('lan') }]);
    expect(requests).to.have.length(1);
  });

  it('a Vip gets no address of a Subnet that gives no new address, and keeps an address that it has', async () => {
    const { objects, reservations, requests, eventMessages, suspension } = createVipWorld([ofVip]);
    suspension.reason = 'Subnet lan gives no new address: Kube-OVN may give the same';
    objects.put(vip({ subnet: 'lan', v4ip: '10.0.0.9' }));
    objects.put(vip({ subnet: 'lan' }, { name: 'new' }));
    await reservations.start();
    expect(requests.map(({ reservedFor }) => reservedFor)).to.deep.equal(['vip/web']);
    expect(eventMessages).to.deep.equal([suspension.reason]);
  });

  it('a Vip without an address is deleted without a request, and its finalizer is removed', async () => {
    const { objects, reservations, requests, patches } = createVipWorld();
    objects.put(vip({ subnet: 'lan' }, { deletionTimestamp, finalizers }));
    await reservations.start();
    expect(requests).to.deep.equal([]);
    expect(patches.map((each) => asRecord(each['metadata'])['finalizers'])).to.deep.equal([[]]);
  });

  it('a Vip without a Subnet, or with an upper-case address, is rejected with an Event', async () => {
    const { objects, reservations, requests, eventMessages } = createVipWorld();
    objects.put(vip({ subnet: '' }, { name: 'a' }));
    objects.put(vip({ subnet: 'lan', v6ip: 'FD00::9' }, { name: 'b' }));
    await reservations.start();
    expect(requests).to.deep.equal([]);
    expect(eventMessages).to.deep.equal([
      'subnet parameter cannot be empty',
      'v6 ip address FD00::9 can not contain upper case',
    ]);
  });

  it('a Vip over a limit is rejected with an Event', async () => {
    const { objects, reservations, requests, eventMessages } = createVipWorld();
    objects.put(vip({ subnet: 'lan', v4ip: '1'.repeat(65) }));
    await reservations.start();
    expect(requests).to.deep.equal([]);
    expect(eventMessages).to.deep.equal(['spec.v4ip has 65 characters, and at most 64 are taken: shorten it']);
  });

  it('an IP object reserves an address for one future Pod', async () => {
    const { objects, reservations, requests, patches } = createIpWorld();
    objects.put(ip('a.default.lan.default', { podName: 'a', namespace: 'default', subnet: 'lan' }));
    await reservations.start();
    expect(requests).to.deep.equal([
      {
        subnet: 'lan',
        addresses: [],
        reservedFor: 'pod/default/a/lan.default',
        mac: '',
        reason: 'IP object a.default.lan.default',
      },
    ]);
    expect(patches[0]).to.deep.include({ spec: { ipAddress: '10.0.0.9', v4IpAddress: '10.0.0.9' } });
    expect(asRecord(patches[0]?.['metadata'])).to.deep.include({
      finalizers,
      labels: { 'ovn.kubernetes.io/subnet': 'lan', lan: '', 'ovn.kubernetes.io/ip_reserved': 'true' },
    });
  });

  for (const [family, named, other] of [
    ['v4IpAddress', '10.0.0.61', 'fd00::2'],
    ['v6IpAddress', 'fd00::61', '10.0.0.2'],
  ] as const)
    it(`an IP object with ${family} gets an address of the other family, in ipAddress alone`, async () => {
      const { objects, reservations, requests, patches, answers } = createIpWorld();
      // Also has another address of the named family for the owner.
      answers.addresses = ['10.0.0.2', 'fd00::2'];
      const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
      const spec = { ...pod, ipAddress: named, v4IpAddress: '', v6IpAddress: '', [family]: named };
      objects.put(ip('a.default.lan.default', spec));
      await reservations.start();
      expect(requests.map((each) => each.addresses)).to.deep.equal([[named], []]);
      const both = family === 'v4IpAddress' ? `${named},${other}` : `${other},${named}`;
      expect(patches[0]).to.deep.include({ spec: { ipAddress: both } });
      // Applies the same file again.
      objects.put(ip('a.default.lan.default', spec, { finalizers, generation: 3 }));
      await until(() => patches.length === 2);
      expect(patches[1]).to.deep.include({ spec: { ipAddress: both } });
    });

  it('an IP object that names its addresses in ipAddress alone reserves these', async () => {
    for (const [ipAddress, addresses] of [
      ['10.0.0.61', ['10.0.0.61']],
      [' 10.0.0.61, fd00::61,', ['10.0.0.61', 'fd00::61']],
    ] as const) {
      const { objects, reservations, requests } = createIpWorld();
      const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
      objects.put(ip('a.default.lan.default', { ...pod, ipAddress, v4IpAddress: '', v6IpAddress: '' }));
      await reservations.start();
      expect(requests[0]).to.deep.include({ addresses });
    }
  });

  it('an IP object keeps the named address while the other family is full, and is completed when that has a free address', async () => {
    const { objects, reservations, requests, patches, answers } = createIpWorld();
    answers.addresses = ['10.0.0.61'];
    const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
    answers.refuseIf = ({ addresses = [] }) =>
      addresses.length === 0 ? new IpledgerError('SUBNET_FULL', 'no free IPv6 address') : undefined;
    objects.put(ip('a.default.lan.default', { ...pod, v4IpAddress: '10.0.0.61' }));
    await reservations.start();
    expect(requests.map((each) => each.addresses)).to.deep.equal([['10.0.0.61'], []]);
    delete answers.refuseIf;
    answers.addresses = ['10.0.0.61', 'fd00::2'];
    reservations.onEvents([
      { kind: 'released', seq: 7, subnet: 'lan', namespace: 'default', pod: 'b', uid: 'u', addresses: ['fd00::2'] },
    ]);
    expect(requests, 'without a backoff').to.have.length(3);
    await until(() => patches.some((each) => asRecord(each['spec'])['ipAddress'] === '10.0.0.61,fd00::2'));
  });

  it('an IP object that waits for its Subnet does not stop the retry of another after a release', async () => {
    const { objects, reservations, requests, answers } = createIpWorld();
    answers.refuse = new IpledgerError('ADDRESS_IN_USE', 'in use');
    const pod = { namespace: 'default', v4IpAddress: '10.0.0.9' };
    objects.put(ip('a.default.elsewhere.default', { ...pod, podName: 'a', subnet: 'elsewhere' }));
    objects.put(ip('b.default.lan.default', { ...pod, podName: 'b', subnet: 'lan' }));
    await reservations.start();
    requests.length = 0;
    reservations.onEvents([{ kind: 'unquarantined', subnet: 'lan', address: '10.0.0.9' }]);
    expect(requests.map(({ reservedFor }) => reservedFor)).to.deep.equal(['pod/default/b/lan.default']);
  });

  it('an invalid IP object is rejected with an Event', async () => {
    const { objects, reservations, requests, eventMessages } = createIpWorld();
    const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
    objects.put(ip('a', { ...pod, subnet: '' }));
    objects.put(ip('b', { ...pod, podType: 'Deployment' }));
    objects.put(ip('c', { ...pod, v6IpAddress: 'FD00::9' }));
    objects.put(ip('d', { ...pod, subnet: 'elsewhere' }));
    await reservations.start();
    expect(eventMessages).to.deep.equal([
      'subnet parameter cannot be empty',
      'podType Deployment is not supported',
      'v6 ip address FD00::9 can not contain upper case',
      'subnet elsewhere does not exist in IPAM: the IP waits for it',
    ]);
    expect(requests).to.deep.equal([]);
  });

  it('an IP object of another name, of the watcher’s projection, or of Kube-OVN reserves no address', async () => {
    const { objects, reservations, requests, patches, eventMessages } = createIpWorld();
    const pod = { podName: 'a', namespace: 'default', subnet: 'lan' };
    objects.put(ip('another-name', pod));
    objects.put(ip('ours', pod, { annotations: { 'ipledger.io/allocation': '7' } }));
    objects.put(ip('theirs', pod, { finalizers: ['kubeovn.io/kube-ovn-controller'] }));
    await reservations.start();
    expect([requests, patches, eventMessages]).to.deep.equal([[], [], []]);
  });
});
