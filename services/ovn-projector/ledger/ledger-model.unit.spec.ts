import { expect } from 'chai';
import { decode, encode, type MessageInput } from '../../../proto/codec.ts';
import type { Allocation, Event } from '../../../proto/generated/ipledger.ts';
import { UnknownEvent } from '../../../lib/ledger-client/follow-ledger.ts';
import { LedgerModel } from './ledger-model.ts';

const event = (seq: number, fields: MessageInput<Event>): Event =>
  decode('Event', encode('Event', { seq, subnet: 'lan', ...fields })) as Event;
const attachment = (pod = 'a', provider = 'net.default.ovn') => ({ namespace: 'default', pod, provider, ordinal: 0 });
const addresses = [{ address: '10.8.0.2', cidr: '10.8.0.0/24', gateway: '10.8.0.1' }];
const allocated = (seq: number, pod = 'a', provider?: string): Event =>
  event(seq, {
    addressAllocated: { attachment: attachment(pod, provider), uid: 'u', node: 'node-1', addresses, mac: '0a:…' },
  });
const transferred = (seq: number, alloc: number): Event =>
  event(seq, {
    addressTransferred: { alloc, attachment: attachment(), fromUid: 'u', uid: 'v', addresses, mac: '0a:…' },
  });
const released = (seq: number, alloc: number): Event =>
  event(seq, { addressReleased: { alloc, attachment: attachment(), uid: 'u', addresses: ['10.8.0.2'] } });
const bound = (seq: number, alloc: number, node: string): Event =>
  event(seq, { addressBound: { alloc, attachment: attachment(), containerId: `c-${node}`, interface: 'net1', node } });
const unbound = (seq: number, node: string): Event =>
  event(seq, { addressUnbound: { attachment: attachment(), containerId: `c-${node}`, interface: 'net1' } });
const configured = (seq: number, provider: string): Event =>
  event(seq, {
    subnetConfigured: { spec: { provider, cidrBlock: '10.8.0.0/24,fd00::/64', gateway: '10.8.0.1,fd00::1' } },
  });

const port = 'a.default.net.default.ovn';

describe('The model of the ledger', () => {
  let model: LedgerModel;
  beforeEach(() => (model = new LedgerModel()));
  const nodes = (): string[] => [...(model.allocations.get(port)?.bindings.values() ?? [])];
  const contents = () => ({ allocations: [...model.allocations], subnets: [...model.subnets] });

  it('The model has the allocations of OVN networks only, and reports the port that an event changed', () => {
    expect(model.apply(allocated(5))).to.deep.equal({ hasSubnets: false, ports: [port] });
    expect(model.apply(allocated(6, 'a', 'macvlan.default'))).to.deep.equal({ hasSubnets: false, ports: [] });
    expect([...model.allocations.keys()]).to.deep.equal([port]);
    expect([...model.portsOf('default', 'u')]).to.deep.equal([port]);
    expect(model.apply(released(7, 5)).ports).to.deep.equal([port]);
    expect(model.allocations.size).to.equal(0);
    expect(model.portsOf('default', 'u').size).to.equal(0);
  });

  it('The model has the Subnets of OVN networks only', () => {
    expect(model.apply(configured(1, 'net.default.ovn')).hasSubnets).to.equal(true);
    expect(model.subnets.get('lan')).to.deep.equal({
      name: 'lan',
      cidrs: ['10.8.0.0/24', 'fd00::/64'],
      gateways: ['10.8.0.1', 'fd00::1'],
    });
    model.apply(configured(2, 'macvlan.default'));
    expect(model.subnets.size).to.equal(0);
    model.apply(configured(3, 'ovn'));
    model.apply(event(4, { subnetRetired: {} }));
    expect(model.subnets.size).to.equal(0);
  });

  it('The model has the nodes of bound containers', () => {
    for (const each of [allocated(5), bound(6, 5, 'node-1'), bound(7, 5, 'node-2')]) model.apply(each);
    expect(nodes()).to.deep.equal(['node-1', 'node-2']);
    model.apply(unbound(8, 'node-1'));
    expect(nodes()).to.deep.equal(['node-2']);
  });

  it('The model gives a transferred allocation to the next Pod, without the containers of the previous Pod', () => {
    for (const each of [allocated(5), bound(6, 5, 'node-1'), transferred(7, 5)]) model.apply(each);
    expect(model.allocations.get(port)).to.include({ seq: 7, uid: 'v', node: '' });
    expect(nodes()).to.deep.equal([]);
    model.apply(released(8, 5));
    expect(model.allocations.has(port), 'the release of the previous allocation').to.equal(true);
  });

  it('The model does not change when the events of its snapshot are applied again', () => {
    const events = [
      configured(1, 'ovn'),
      allocated(5),
      bound(6, 5, 'node-1'),
      bound(7, 5, 'node-2'),
      unbound(8, 'node-1'),
    ];
    for (const each of events) model.apply(each);
    const once = contents();
    for (const each of events) model.apply(each);
    expect(contents()).to.deep.equal(once);
  });

  it('The model ignores listed bindings that are older than the allocation', () => {
    const binding = (containerId: string, at: string) => ({ containerId, interface: 'net1', node: containerId, at });
    const listed = decode(
      'Allocation',
      encode('Allocation', {
        seq: 9,
        attachment: attachment(),
        podUid: 'v',
        subnet: 'lan',
        addresses,
        mac: '0a:…',
        at: '2026-11-17T14:05:00.000Z',
        bindings: [binding('earlier', '2026-11-17T14:04:00.000Z'), binding('present', '2026-11-17T14:06:00.000Z')],
      }),
    ) as Allocation;
    model.load({ subnets: [], allocations: [listed] });
    expect(nodes()).to.deep.equal(['present']);
    model.load({ subnets: [], allocations: [] });
    expect(model.allocations.size).to.equal(0);
  });

  it('The model throws at an event of unknown type', () => {
    expect(() => model.apply(event(9, { type: 'Strange' }))).to.throw(UnknownEvent, 'event 9 is of type Strange');
  });
});
