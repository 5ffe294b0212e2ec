import { expect } from 'chai';
import { holding, inForce } from '../fakes.ts';
import type { Fact } from '../ledger/facts.ts';
import { type Touched, View } from './view.ts';

const ended = (seq: number): Fact => ({
  kind: 'ended',
  seq,
  subnet: 'macvlan',
  namespace: 'default',
  pod: 'a',
  uid: 'uid-a',
  addresses: ['10.0.0.2'],
});
const given = (seq: number, ordinal = 0): Fact => ({ kind: 'given', holding: holding('a', { seq, ordinal }) });

function watched() {
  const touched: Touched[] = [];
  const view = new View((each) => touched.push(each));
  const last = () => {
    const { pods, ips, subnets } = touched.at(-1) ?? { pods: [], ips: [], subnets: [] };
    return { pods: [...pods], ips: [...ips], subnets: [...subnets] };
  };
  return { view, last };
}

describe('the view of what is held', () => {
  it('finds it by Pod and by IP object, in the order of the attachments', () => {
    const { view, last } = watched();
    view.facts([given(8, 1), given(7)], 8);
    expect(view.ofPod('default/a').map(({ seq }) => seq)).to.deep.equal([7, 8]);
    expect(view.ofIp('a.default.macvlan.default.1')?.seq).to.equal(8);
    expect(last()).to.deep.equal({
      pods: ['default/a'],
      ips: ['a.default.macvlan.default.1', 'a.default.macvlan.default'],
      subnets: ['macvlan'],
    });
    expect(view.seq).to.equal(8);
  });

  it('changes nothing when it is told something twice', () => {
    const { view } = watched();
    view.snapshot({
      seq: 8,
      holdings: [holding('a', { seq: 8 })],
      subnets: [inForce('macvlan')],
      pools: [],
      reservations: [],
    });
    view.facts([given(7)], 7);
    view.facts([ended(7)], 8);
    view.facts([given(8)], 8);
    expect(view.ofPod('default/a').map(({ seq }) => seq)).to.deep.equal([8]);
  });

  it('learns interface and node when an address is bound', () => {
    const { view, last } = watched();
    view.facts([given(7)], 7);
    view.facts([{ kind: 'bound', seq: 7, interface: 'net1', node: 'node-1' }], 8);
    expect(view.ofPod('default/a')[0]).to.include({ interface: 'net1', node: 'node-1' });
    expect(last().subnets).to.deep.equal([]);
    view.facts([{ kind: 'bound', seq: 99, interface: 'net1', node: 'node-1' }], 9);
    expect(last()).to.deep.equal({ pods: [], ips: [], subnets: [] });
  });

  it('touches on a new snapshot what was there and what is there', () => {
    const { view, last } = watched();
    view.snapshot({
      seq: 5,
      holdings: [holding('old', { seq: 1 })],
      subnets: [inForce('retired')],
      pools: [],
      reservations: [],
    });
    view.snapshot({
      seq: 9,
      holdings: [holding('new', { seq: 9 })],
      subnets: [inForce('macvlan')],
      pools: [],
      reservations: [],
    });
    expect(last()).to.deep.equal({
      pods: ['default/old', 'default/new'],
      ips: ['old.default.macvlan.default', 'new.default.macvlan.default'],
      subnets: ['retired', 'macvlan'],
    });
    expect(view.ofPod('default/old')).to.deep.equal([]);
  });

  it('gives a name that two allocations claim to the older', () => {
    const { view } = watched();
    const other = holding('a', { seq: 3, uid: 'old' });
    view.facts([given(7), { kind: 'given', holding: other }], 7);
    expect(view.ofIp('a.default.macvlan.default')?.seq).to.equal(3);
    view.facts([ended(3)], 8);
    expect(view.ofIp('a.default.macvlan.default')?.seq).to.equal(7);
    view.facts([ended(7)], 9);
    expect(view.ofIp('a.default.macvlan.default')).to.equal(undefined);
  });

  it('knows the subnets in force', () => {
    const { view, last } = watched();
    view.facts([{ kind: 'configured', subnet: inForce('macvlan') }], 2);
    expect(view.subnet('macvlan')?.spec.provider).to.equal('macvlan.default');
    view.facts([{ kind: 'unbound', subnet: 'macvlan', namespace: 'default', pod: 'a', addresses: ['10.0.0.2'] }], 3);
    expect(view.subnet('macvlan')).not.to.equal(undefined);
    view.facts([{ kind: 'retired', subnet: 'macvlan' }], 4);
    expect(view.subnet('macvlan')).to.equal(undefined);
    expect(last().subnets).to.deep.equal(['macvlan']);
  });
});
