import { expect } from 'chai';
import { addressOverlap, privateNotEnforced, updatedConditions, subnetReasons as reasons } from './conditions.ts';

const now = new Date('2026-11-17T14:05:00.123Z');
const later = new Date('2026-11-17T15:00:00Z');
const accepted = { accepted: true, message: '' };
const refused = { accepted: false, message: 'gateway 10.8.0.1 is not in cidr 10.9.0.0/24' };
const statesOf = (conditions: unknown) =>
  (conditions as { type: string; status: string }[]).map(({ type, status }) => `${type}=${status}`);

describe('the conditions of a Subnet', () => {
  it('the conditions of a Subnet show that a spec is in force, or the reason why it is not', () => {
    expect(statesOf(updatedConditions(undefined, accepted, { reasons, generation: 1, now }))).to.deep.equal([
      'Validated=True',
      'Ready=True',
      'Error=False',
    ]);
    const conditions = updatedConditions(undefined, refused, { reasons, generation: 1, now });
    expect(statesOf(conditions)).to.deep.equal(['Validated=False', 'Ready=False', 'Error=True']);
    expect(conditions?.[0]).to.deep.equal({
      type: 'Validated',
      status: 'False',
      reason: 'ValidateLogicalSwitchFailed',
      message: refused.message,
      observedGeneration: 1,
      lastUpdateTime: '2026-11-17T14:05:00Z',
      lastTransitionTime: '2026-11-17T14:05:00Z',
    });
  });

  it('the conditions of a Subnet escape the text of a tenant, and do not change with the same message', () => {
    const hostile = { accepted: false, message: 'interface "a\u001b[2J\u202e" is not valid' };
    const conditions = updatedConditions(undefined, hostile, { reasons, generation: 1, now });
    expect(conditions?.[0]?.message).to.equal('interface "a\\u001b[2J\\u202e" is not valid');
    expect(updatedConditions(conditions, hostile, { reasons, generation: 1, now: later })).to.equal(undefined);
  });

  it('the conditions of a Subnet are not written if they are current', () => {
    const conditions = updatedConditions(undefined, accepted, { reasons, generation: 1, now });
    expect(updatedConditions(conditions, accepted, { reasons, generation: 1, now: later })).to.equal(undefined);
  });

  it('the conditions of a Subnet keep the transition time while the status stays, and conditions of other types', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const conditions = updatedConditions([foreign], accepted, { reasons, generation: 1, now });
    const updated = updatedConditions(conditions, accepted, { reasons, generation: 2, now: later });
    expect(updated?.[0]).to.deep.equal(foreign);
    expect(updated?.[1]).to.include({
      lastTransitionTime: '2026-11-17T14:05:00Z',
      lastUpdateTime: '2026-11-17T15:00:00Z',
    });
    const changed = updatedConditions(conditions, refused, { reasons, generation: 2, now: later });
    expect(changed?.[1]).to.include({ lastTransitionTime: '2026-11-17T15:00:00Z' });
  });

  it('the conditions of a Subnet include a warning about the spec while it is raised', () => {
    const about = (message: string, generation: number) => ({
      reasons,
      generation,
      now,
      warnings: [{ ...privateNotEnforced, message }],
    });
    const raised = updatedConditions(undefined, accepted, about('no effect', 1));
    expect(statesOf(raised)).to.deep.equal(['Validated=True', 'Ready=True', 'Error=False', 'PrivateEnforced=False']);
    const warning = { type: 'PrivateEnforced', reason: 'PrivateNotEnforced', message: 'no effect' };
    expect(raised?.[3]).to.include({ ...warning, observedGeneration: 1 });
    expect(updatedConditions(raised, accepted, about('no effect', 1))).to.equal(undefined);
    expect(statesOf(updatedConditions(raised, accepted, about('', 2)))).to.deep.equal([
      'Validated=True',
      'Ready=True',
      'Error=False',
    ]);
  });

  it('the conditions of a Subnet show what prevents its deletion, and keep the verdict about the spec', () => {
    const conditions = updatedConditions(undefined, accepted, { reasons, generation: 1, now });
    const message = 'held, the first by Pod default/web';
    const inUse = updatedConditions(
      conditions,
      { accepted: false, message, inUse: true },
      { reasons, generation: 2, now },
    );
    expect(statesOf(inUse)).to.deep.equal(['Validated=True', 'Ready=False', 'Error=False']);
    expect(inUse?.[1]).to.include({ reason: 'SubnetInUse', message });
  });

  it('the conditions of a Subnet show a warning about the cluster while it is raised, and then that it has ended', () => {
    const about = (message: string, at: Date) => ({
      reasons,
      generation: 1,
      now: at,
      warnings: [{ ...addressOverlap, message }],
    });
    const never = updatedConditions(undefined, accepted, about('', now));
    expect(statesOf(never)).to.deep.equal(['Validated=True', 'Ready=True', 'Error=False']);
    const raised = updatedConditions(never, accepted, about('Subnet a and Subnet b', now));
    expect(raised?.[3]).to.deep.include({ type: 'AddressOverlap', status: 'True', reason: 'OverlapOnBroadcastDomain' });
    expect(updatedConditions(raised, accepted, about('Subnet a and Subnet b', later))).to.equal(undefined);
    const other = updatedConditions(raised, accepted, about('Subnet a and Subnet c', later));
    expect(other?.[3]).to.deep.include({ message: 'Subnet a and Subnet c', lastUpdateTime: '2026-11-17T15:00:00Z' });
    expect(other?.[3]?.lastTransitionTime).to.equal('2026-11-17T14:05:00Z');
    const cleared = updatedConditions(raised, accepted, about('', later));
    expect(cleared?.[3]).to.deep.include({ status: 'False', reason: 'NoOverlap', message: '' });
    expect(cleared?.[3]?.lastTransitionTime).to.equal('2026-11-17T15:00:00Z');
  });

  it('the conditions of a Subnet replace malformed values', () => {
    expect(updatedConditions('nonsense', accepted, { reasons, generation: 1, now })).to.have.length(3);
  });

  it('the only condition of a kind shows that a deleted object in use still has its addresses, and a refused one has none', () => {
    const about = { reasons: { ...reasons, onlyType: 'IPsAllocated' }, generation: 1, now };
    const inUse = { accepted: false, message: 'Pod web uses them', inUse: true } as const;
    const [shown] = updatedConditions(undefined, inUse, about) ?? [];
    expect(shown).to.include({ type: 'IPsAllocated', status: 'True', reason: 'SubnetInUse', message: inUse.message });
    expect(statesOf(updatedConditions(undefined, refused, about))).to.deep.equal(['IPsAllocated=False']);
  });
});
