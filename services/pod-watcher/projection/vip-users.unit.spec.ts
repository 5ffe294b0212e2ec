import { expect } from 'chai';
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { heldAllocation } from '../testing/fakes.ts';
import type { ReservedAddress } from '../ledger/ledger-events.ts';
import { VipUsers } from './vip-users.ts';

const reserved = (address: string, reservedFor = 'vip/web'): ReservedAddress => ({
  seq: 3,
  subnet: 'macvlan',
  address,
  reservedFor,
  reason: '',
  mac: '',
});

describe('User of a Vip', () => {
  function world(held = [] as ReturnType<typeof heldAllocation>[], reservations = [reserved('10.0.0.2')]) {
    const touched: string[][] = [];
    const users = new VipUsers((vips) => touched.push([...vips]), {
      allocationAt: ({ address }) => held.find(({ addresses }) => addresses.some((each) => each.address === address)),
      ipNameOf: ipObjectName,
    });
    users.onSnapshot({ seq: 50, allocations: held, subnets: [], pools: [], reservations });
    return { users, touched };
  }

  it('The user of a Vip is empty while no Pod has its address', () => {
    expect(world().users.userOf('web')).to.equal('');
  });

  it('The user of a Vip is the IP object of the Pod that has its address', () => {
    expect(world([heldAllocation('a')]).users.userOf('web')).to.equal('a.default.macvlan.default');
  });

  it('The user of a Vip changes with allocations and releases', () => {
    const { users, touched } = world();
    users.onEvents([{ kind: 'allocated', allocation: heldAllocation('a') }]);
    expect(users.userOf('web')).to.equal('a.default.macvlan.default');
    users.onEvents([
      { kind: 'released', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'uid-a', addresses: [] },
    ]);
    expect(users.userOf('web')).to.equal('');
    expect(touched).to.deep.equal([['web'], ['web'], ['web']]);
  });

  it('The user of a Vip is empty when the address is reserved for another owner, or not reserved', () => {
    expect(
      world([heldAllocation('a')], [reserved('10.0.0.2', 'pod/default/a/macvlan.default')]).users.userOf('web'),
    ).to.equal('');
    const { users } = world([heldAllocation('a')]);
    users.onEvents([{ kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web' }]);
    expect(users.userOf('web')).to.equal('');
  });

  it('The user of a Vip is the Pod that had the address when the Vip reserved it', () => {
    const { users } = world([heldAllocation('a')], []);
    users.onEvents([{ kind: 'reserved', reserved: reserved('10.0.0.2') }]);
    expect(users.userOf('web')).to.equal('a.default.macvlan.default');
    users.onEvents([{ kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web' }]);
    users.onEvents([{ kind: 'reserved', reserved: reserved('10.0.0.3') }]);
    expect(users.userOf('web')).to.equal('');
  });

  it('The user of a Vip is "true" when the name is too long for a label', () => {
    const pod = 'p'.repeat(60);
    expect(world([heldAllocation(pod)]).users.userOf('web')).to.equal('true');
  });
});
