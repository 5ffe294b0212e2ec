import { expect } from 'chai';
import { addressOverlap, conditionsAfter, subnetReasons as reasons } from './conditions.ts';

const now = new Date('2026-11-17T14:05:00.123Z');
const later = new Date('2026-11-17T15:00:00Z');
const accepted = { accepted: true, message: '' };
const refused = { accepted: false, message: 'gateway 10.8.0.1 is not in cidr 10.9.0.0/24' };
const told = (conditions: unknown) =>
  (conditions as { type: string; status: string }[]).map(({ type, status }) => `${type}=${status}`);

describe('the conditions of a Subnet', () => {
  it('say that a spec is in force, or why not', () => {
    expect(told(conditionsAfter(undefined, accepted, { reasons, generation: 1, now }))).to.deep.equal([
      'Validated=True',
      'Ready=True',
      'Error=False',
    ]);
    const conditions = conditionsAfter(undefined, refused, { reasons, generation: 1, now });
    expect(told(conditions)).to.deep.equal(['Validated=False', 'Ready=False', 'Error=True']);
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

  it('are left alone when they say so already', () => {
    const conditions = conditionsAfter(undefined, accepted, { reasons, generation: 1, now });
    expect(conditionsAfter(conditions, accepted, { reasons, generation: 1, now: later })).to.equal(undefined);
  });

  it('keep the time of the transition while the status stays, and what others wrote', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const conditions = conditionsAfter([foreign], accepted, { reasons, generation: 1, now });
    const updated = conditionsAfter(conditions, accepted, { reasons, generation: 2, now: later });
    expect(updated?.[0]).to.deep.equal(foreign);
    expect(updated?.[1]).to.include({
      lastTransitionTime: '2026-11-17T14:05:00Z',
      lastUpdateTime: '2026-11-17T15:00:00Z',
    });
    const turned = conditionsAfter(conditions, refused, { reasons, generation: 2, now: later });
    expect(turned?.[1]).to.include({ lastTransitionTime: '2026-11-17T15:00:00Z' });
  });

  it('say what of an accepted spec has no effect, as long as the spec asks for it', () => {
    const caution = { type: 'PrivateEnforced', reason: 'PrivateNotEnforced', message: 'no effect' } as const;
    const asked = conditionsAfter(undefined, accepted, { reasons, generation: 1, now, cautions: [caution] });
    expect(told(asked)).to.deep.equal(['Validated=True', 'Ready=True', 'Error=False', 'PrivateEnforced=False']);
    expect(asked?.[3]).to.include({ ...caution, observedGeneration: 1 });
    expect(conditionsAfter(asked, accepted, { reasons, generation: 1, now, cautions: [caution] })).to.equal(undefined);
    expect(told(conditionsAfter(asked, accepted, { reasons, generation: 2, now }))).to.deep.equal([
      'Validated=True',
      'Ready=True',
      'Error=False',
    ]);
  });

  it('say who keeps one that is being deleted, and leave what was said of its spec', () => {
    const conditions = conditionsAfter(undefined, accepted, { reasons, generation: 1, now });
    const message = 'held, the first by Pod default/web';
    const inUse = conditionsAfter(
      conditions,
      { accepted: false, message, inUse: true },
      { reasons, generation: 2, now },
    );
    expect(told(inUse)).to.deep.equal(['Validated=True', 'Ready=False', 'Error=False']);
    expect(inUse?.[1]).to.include({ reason: 'SubnetInUse', message });
  });

  it('say a warning while it is true, and that it is not once it was', () => {
    const about = (message: string, at: Date) => ({
      reasons,
      generation: 1,
      now: at,
      warnings: [{ ...addressOverlap, message }],
    });
    const never = conditionsAfter(undefined, accepted, about('', now));
    expect(told(never)).to.deep.equal(['Validated=True', 'Ready=True', 'Error=False']);
    const raised = conditionsAfter(never, accepted, about('Subnet a and Subnet b', now));
    expect(raised?.[3]).to.deep.include({ type: 'AddressOverlap', status: 'True', reason: 'OverlapOnSameWire' });
    expect(conditionsAfter(raised, accepted, about('Subnet a and Subnet b', later))).to.equal(undefined);
    const other = conditionsAfter(raised, accepted, about('Subnet a and Subnet c', later));
    expect(other?.[3]).to.deep.include({ message: 'Subnet a and Subnet c', lastUpdateTime: '2026-11-17T15:00:00Z' });
    expect(other?.[3]?.lastTransitionTime).to.equal('2026-11-17T14:05:00Z');
    const cleared = conditionsAfter(raised, accepted, about('', later));
    expect(cleared?.[3]).to.deep.include({ status: 'False', reason: 'NoOverlap', message: '' });
    expect(cleared?.[3]?.lastTransitionTime).to.equal('2026-11-17T15:00:00Z');
  });

  it('are made anew where they are malformed', () => {
    expect(conditionsAfter('nonsense', accepted, { reasons, generation: 1, now })).to.have.length(3);
  });
});
