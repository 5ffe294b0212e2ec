import { expect } from 'chai';
import type { Held } from './matching.ts';
import { key, plan, request } from './plan.fixture.ts';

describe('what a Pod holds already', () => {
  const held = (parts: Partial<Held> = {}): Held => ({
    seq: 7,
    provider: 'macvlan.default',
    ordinal: 0,
    interface: '',
    addresses: [{ address: '10.0.0.2', cidr: '', gateway: '' }],
    ...parts,
  });

  it('is not asked for again, also when its network or its annotations have become unusable', () => {
    const around = { held: [held(), held({ provider: 'missing.default' }), held({ provider: 'broken.default' })] };
    const { attachments, problems, removed } = plan('macvlan,missing,broken', { [key('ip_address')]: 'x' }, around);
    expect({ attachments, problems, removed }).to.deep.equal({ attachments: [], problems: [], removed: [] });
  });

  it('leaves only what was added to be asked for', () => {
    expect(plan('macvlan,vlan', {}, { held: [held()] }).attachments).to.deep.equal([
      { ...request, provider: 'vlan.default', subnets: ['vlan'] },
    ]);
    expect(plan('macvlan@net1,macvlan@net2', {}, { held: [held({ interface: 'net2' })] }).attachments).to.deep.equal([
      { ...request, ordinal: 1, interface: 'net1' },
    ]);
  });

  it('is told when it is named no longer', () => {
    const [first, second] = [held({ interface: 'net1' }), held({ seq: 8, ordinal: 1, interface: 'net2' })];
    expect(plan('macvlan@net2', {}, { held: [first, second] })).to.deep.include({ attachments: [], removed: [first] });
    expect(plan('', {}, { held: [first, second] }).removed).to.deep.equal([first, second]);
    expect(plan('macvlan', {}, { held: [first, second] }).removed).to.deep.equal([second]);
  });

  it('is told apart by the address that is asked for', () => {
    const two = [held(), held({ seq: 8, ordinal: 1, addresses: [{ address: '10.0.0.9', cidr: '', gateway: '' }] })];
    expect(plan('[{"name":"macvlan","ips":["10.0.0.9/16"]}]', {}, { held: two }).removed).to.deep.equal([two[0]]);
  });

  it('is another NIC under another name', () => {
    const [renamed] = [held({ interface: 'net1' })];
    const { attachments, removed } = plan('macvlan@net5', {}, { held: [renamed] });
    expect(attachments).to.deep.equal([{ ...request, ordinal: 1, interface: 'net5' }]);
    expect(removed).to.deep.equal([renamed]);
  });

  it('is kept while the annotation cannot be read', () => {
    expect(plan('a@b@c', {}, { held: [held()] }).removed).to.deep.equal([]);
  });

  it('is kept of the primary network, whoever serves it by now', () => {
    const { attachments, removed } = plan(
      'default/macvlan',
      {},
      { held: [held({ provider: 'ovn' })], namespace: 'served' },
    );
    expect(removed).to.deep.equal([]);
    expect(attachments.map(({ provider }) => provider)).to.deep.equal(['macvlan.default']);
  });
});
