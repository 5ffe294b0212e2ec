import { expect } from 'chai';
import type { Event } from '../../events/event.ts';
import { allocated, poolConfigured, quarantined, reserved, smallSubnet } from '../../testing/event-fixtures.ts';
import { foldEvents } from '../../testing/given-when-then.ts';
import type { ConfiguredSubnet } from '../../state/state.ts';
import { mayKeepAddress } from './keep-address.ts';

const address = '10.0.0.2';
const held = [smallSubnet(), allocated('a', address, { subnet: 'small' })];
const poolOf = (...namespaces: string[]): Event => ({
  type: 'PoolConfigured',
  subnet: 'small',
  data: { pool: 'blue', spec: { subnet: 'small', ips: [address], namespaces } },
});

describe('A Pod of namespace default', () => {
  /** Whether a Pod may keep an address after these events. */
  function mayKeep(events: readonly Event[], { pool = '', entitlement = 'pod/default/a/small.default' } = {}): boolean {
    const state = foldEvents(events);
    const keeper = { pool, entitlements: new Set([entitlement]), namespace: 'default' };
    return mayKeepAddress(state, state.subnets.get('small') as ConfiguredSubnet, address, keeper);
  }

  it('A Pod of namespace default keeps an address outside all pools, and an address of a pool that its namespace may use', () => {
    expect(mayKeep(held)).to.equal(true);
    expect(mayKeep([...held, poolOf()])).to.equal(true);
    expect(mayKeep([...held, poolOf('default')])).to.equal(true);
  });

  it('A Pod of namespace default does not keep an address of a pool of another namespace, unless the address is reserved for the Pod', () => {
    const foreign = [...held, poolOf('other')];
    expect(mayKeep(foreign)).to.equal(false);
    expect(mayKeep([...foreign, reserved('vip/web', [address], { subnet: 'small' })])).to.equal(false);
    const own = [...foreign, reserved('vip/web', [address], { subnet: 'small' })];
    expect(mayKeep(own, { entitlement: 'vip/web' })).to.equal(true);
  });

  it('A Pod of namespace default does not keep an address outside the pool that it requests', () => {
    const events = [...held, poolConfigured('red', ['10.0.0.3'], 'small')];
    expect(mayKeep(events, { pool: 'red' })).to.equal(false);
    expect(mayKeep([...held, poolOf()], { pool: 'blue' })).to.equal(true);
  });

  it('A Pod of namespace default does not keep an address that is quarantined, or reserved for another owner', () => {
    expect(mayKeep([...held, quarantined(address, 'small')])).to.equal(false);
    expect(mayKeep([...held, reserved('vip/web', [address], { subnet: 'small' })])).to.equal(false);
  });

  it('A Pod of namespace default does not keep an address that is quarantined, or reserved for another owner, in another Subnet of its network', () => {
    const both = [{ ...smallSubnet(), subnet: 'other' }, ...held];
    expect(mayKeep(both)).to.equal(true);
    expect(mayKeep([...both, quarantined(address, 'other')])).to.equal(false);
    expect(mayKeep([...both, reserved('vip/web', [address], { subnet: 'other' })])).to.equal(false);
  });
});
