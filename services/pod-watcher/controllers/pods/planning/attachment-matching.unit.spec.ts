import { expect } from 'chai';
import type { HeldAttachment } from './attachment-matching.ts';
import { annotationKey, planOf, defaultRequest } from './testing/plan.fixture.ts';

describe('an attachment that the Pod holds', () => {
  const held = (parts: Partial<HeldAttachment> = {}): HeldAttachment => ({
    seq: 7,
    provider: 'macvlan.default',
    ordinal: 0,
    interface: '',
    addresses: [{ address: '10.0.0.2', cidr: '', gateway: '' }],
    ...parts,
  });

  it('an attachment that the Pod holds is not requested again, even if its network or its annotations are broken now', () => {
    const options = { held: [held(), held({ provider: 'missing.default' }), held({ provider: 'broken.default' })] };
    const { attachments, problems, detached } = planOf(
      'macvlan,missing,broken',
      { [annotationKey('ip_address')]: 'x' },
      options,
    );
    expect({ attachments, problems, detached }).to.deep.equal({ attachments: [], problems: [], detached: [] });
  });

  it('an attachment that the Pod holds is not requested again if the Pod also selects another network', () => {
    expect(planOf('macvlan,vlan', {}, { held: [held()] }).attachments).to.deep.equal([
      { ...defaultRequest, provider: 'vlan.default', subnets: ['vlan'] },
    ]);
    expect(planOf('macvlan@net1,macvlan@net2', {}, { held: [held({ interface: 'net2' })] }).attachments).to.deep.equal([
      { ...defaultRequest, ordinal: 1, interface: 'net1' },
    ]);
  });

  it('an attachment that the Pod holds is detached if the Pod no longer selects its network', () => {
    const [first, second] = [held({ interface: 'net1' }), held({ seq: 8, ordinal: 1, interface: 'net2' })];
    expect(planOf('macvlan@net2', {}, { held: [first, second] })).to.deep.include({
      attachments: [],
      detached: [first],
    });
    expect(planOf('', {}, { held: [first, second] }).detached).to.deep.equal([first, second]);
    expect(planOf('macvlan', {}, { held: [first, second] }).detached).to.deep.equal([second]);
  });

  it('an attachment of Kube-OVN’s type that the Pod holds is detached if the Pod no longer selects its network', () => {
    const nic = held({ provider: 'attachnet.default.ovn' });
    expect(planOf('attachnet', {}, { held: [nic] })).to.deep.include({ attachments: [], detached: [] });
    expect(planOf('', {}, { held: [nic] }).detached).to.deep.equal([nic]);
  });

  it('an attachment that the Pod holds is identified by the requested address', () => {
    const two = [held(), held({ seq: 8, ordinal: 1, addresses: [{ address: '10.0.0.9', cidr: '', gateway: '' }] })];
    expect(planOf('[{"name":"macvlan","ips":["10.0.0.9/16"]}]', {}, { held: two }).detached).to.deep.equal([two[0]]);
  });

  it('an attachment of two families that the Pod holds is identified by any of its addresses', () => {
    const dual = (seq: number, last: number): HeldAttachment =>
      held({
        seq,
        ordinal: seq,
        addresses: [`10.0.0.${last}`, `fd00::${last}`].map((address) => ({ address, cidr: '', gateway: '' })),
      });
    const two = [dual(0, 2), dual(1, 9)];
    for (const ips of [['fd00::9/64'], ['10.0.0.9/16'], ['10.0.0.9/16', 'fd00::9/64']])
      expect(planOf(JSON.stringify([{ name: 'macvlan', ips }]), {}, { held: two }).detached, ips.join()).to.deep.equal([
        two[0],
      ]);
  });

  it('an attachment that the Pod holds is detached if its interface gets another name, and another attachment is requested', () => {
    const [renamed] = [held({ interface: 'net1' })];
    const { attachments, detached } = planOf('macvlan@net5', {}, { held: [renamed] });
    expect(attachments).to.deep.equal([{ ...defaultRequest, ordinal: 1, interface: 'net5' }]);
    expect(detached).to.deep.equal([renamed]);
  });

  it('an attachment that the Pod holds is not detached while the annotation cannot be read', () => {
    expect(planOf('a@b@c', {}, { held: [held()] }).detached).to.deep.equal([]);
  });

  it('an attachment to the primary network is not detached, also if another network replaces it', () => {
    const { attachments, detached } = planOf(
      'default/macvlan',
      {},
      { held: [held({ provider: 'ovn' })], namespace: 'served' },
    );
    expect(detached).to.deep.equal([]);
    expect(attachments.map(({ provider }) => provider)).to.deep.equal(['macvlan.default']);
  });
});
