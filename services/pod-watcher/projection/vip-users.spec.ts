import { expect } from 'chai';
import { holding } from '../fakes.ts';
import type { Reserved } from '../ledger/facts.ts';
import { VipUsers } from './vip-users.ts';

const reserved = (address: string, reservedFor = 'vip/web'): Reserved => ({
  seq: 3,
  subnet: 'macvlan',
  address,
  reservedFor,
  reason: '',
  mac: '',
});

describe('who uses a Vip', () => {
  function world(held = [] as ReturnType<typeof holding>[], reservations = [reserved('10.0.0.2')]) {
    const touched: string[][] = [];
    const users = new VipUsers((vips) => touched.push([...vips]));
    users.snapshot({ seq: 50, holdings: held, subnets: [], pools: [], reservations });
    return { users, touched };
  }

  it('is nobody while no Pod has its address', () => {
    expect(world().users.userOf('web')).to.equal('');
  });

  it('is told by the name of the IP object of the Pod that has it', () => {
    expect(world([holding('a')]).users.userOf('web')).to.equal('a.default.macvlan.default');
  });

  it('changes with who is given it, and ends with that', () => {
    const { users, touched } = world();
    users.facts([{ kind: 'given', holding: holding('a') }]);
    expect(users.userOf('web')).to.equal('a.default.macvlan.default');
    users.facts([
      { kind: 'ended', seq: 7, subnet: 'macvlan', namespace: 'default', pod: 'a', uid: 'uid-a', addresses: [] },
    ]);
    expect(users.userOf('web')).to.equal('');
    expect(touched).to.deep.equal([['web'], ['web'], ['web']]);
  });

  it('is not whoever has an address that is reserved for something else, or no more', () => {
    expect(world([holding('a')], [reserved('10.0.0.2', 'pod/default/a/macvlan.default')]).users.userOf('web')).to.equal(
      '',
    );
    const { users } = world([holding('a')]);
    users.facts([{ kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web' }]);
    expect(users.userOf('web')).to.equal('');
  });

  it('with a name too long for a label is only said to be there', () => {
    const pod = 'p'.repeat(60);
    expect(world([holding(pod)]).users.userOf('web')).to.equal('true');
  });
});
