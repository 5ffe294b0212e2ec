import { expect } from 'chai';
import { readiness } from './readiness.ts';

const pods = { name: 'pods', known: true, silentMs: 10_000, mostSilentMs: 150_000 };
const allocator = { name: 'the allocator', known: true, silentMs: 19_000, mostSilentMs: 20_000 };

describe('whether the watcher is ready', () => {
  it('is yes when it has started and hears all it must hear', () => {
    expect(readiness(true, [pods, allocator])).to.equal(true);
  });

  it('is no until all is known and both halves work', () => {
    expect(readiness(false, [pods, { ...allocator, known: false }])).to.equal('still to be read: the allocator');
    expect(readiness(false, [pods, allocator])).to.equal('still starting');
  });

  it('becomes no again when somebody falls silent, and names him', () => {
    const silent = { ...allocator, silentMs: 21_400 };
    expect(readiness(true, [pods, silent])).to.equal('nothing heard of the allocator for 21 s');
    expect(readiness(true, [{ ...pods, silentMs: 151_000 }, silent])).to.equal(
      'nothing heard of pods for 151 s, of the allocator for 21 s',
    );
  });

  it('is no while there is an alarm, and says which', () => {
    expect(readiness(true, [pods, allocator], ['60 are missing', '6 vanished'])).to.equal(
      'ALARM: 60 are missing; 6 vanished',
    );
    const unread = { ...allocator, known: false, silentMs: 95_000 };
    expect(readiness(false, [pods, unread], ['the ledger is frozen'])).to.equal('ALARM: the ledger is frozen');
  });
});
