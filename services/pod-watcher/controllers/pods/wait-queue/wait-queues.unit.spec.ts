import { expect } from 'chai';
import type { Allocation } from '../../../../../proto/generated/ipledger.ts';
import { allQueuesOf, anyAddressQueuesOf, queuesTakenFrom, quotaQueuesOf } from './wait-queues.ts';

const named = {
  provider: 'lan.default',
  ordinal: 0,
  subnets: ['lan'],
  candidates: [{ addresses: ['10.0.0.5', 'fd00::5'] }, { addresses: ['10.0.0.6'] }],
  mac: '02:00:00:00:00:AA',
};
const second = { provider: 'lan.default', ordinal: 1, subnets: ['lan', 'spare'] };
const other = { provider: 'wan.default', ordinal: 0, subnets: ['wan'], candidates: [] };
const plan = { attachments: [named, second, other] };

/** Makes the allocation of 10.0.0.<last> for an attachment of a Pod of namespace shop. */
const allocationOf = (
  provider: string,
  ordinal: number,
  { subnet, last, mac = '' }: { readonly subnet: string; readonly last: number; readonly mac?: string },
): Allocation => ({
  seq: last,
  attachment: { namespace: 'shop', pod: 'web', provider, ordinal },
  podUid: 'u',
  node: '',
  subnet,
  addresses: [{ address: `10.0.0.${last}`, cidr: '10.0.0.0/24', gateway: '' }],
  mac,
  interface: '',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '',
  bindings: [],
  network: provider,
});

describe('the queues of a Pod', () => {
  it('the queues of a Pod for any address are those of its attachments without a named address, each once', () => {
    expect(anyAddressQueuesOf(plan)).to.deep.equal(['any:lan', 'any:spare', 'any:wan']);
    expect(anyAddressQueuesOf({ attachments: [named] })).to.deep.equal([]);
  });

  it('the queues of a Pod have each address and MAC that it names, and any address of its Subnets if one is full', () => {
    const queues = ['named:10.0.0.5', 'named:fd00::5', 'named:10.0.0.6', 'mac:lan/02:00:00:00:00:aa'];
    expect([...allQueuesOf({ attachments: [named] }, false)]).to.have.members(queues);
    expect([...allQueuesOf({ attachments: [named] }, true)]).to.have.members([...queues, 'any:lan']);
    expect([...allQueuesOf({ attachments: [other] }, false)]).to.deep.equal(['any:wan']);
  });

  it('the queues of a Pod at the quota of its namespace are one for each of its Subnets', () => {
    expect(quotaQueuesOf(plan, 'shop')).to.deep.equal(['quota:lan/shop', 'quota:spare/shop', 'quota:wan/shop']);
  });

  it('the queues that offered what a Pod has got depend on whether this attachment named its address', () => {
    const mac = '02:00:00:00:00:AA';
    const got = [
      allocationOf('lan.default', 0, { subnet: 'lan', last: 5, mac }),
      allocationOf('lan.default', 1, { subnet: 'spare', last: 7 }),
      allocationOf('wan.default', 0, { subnet: 'wan', last: 8 }),
    ];
    expect(queuesTakenFrom(got, plan)).to.deep.equal([
      'quota:lan/shop',
      'named:10.0.0.5',
      'mac:lan/02:00:00:00:00:aa',
      'quota:spare/shop',
      'any:spare',
      'quota:wan/shop',
      'any:wan',
    ]);
  });
});
