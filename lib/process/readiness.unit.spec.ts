import { expect } from 'chai';
import { readiness } from './readiness.ts';

const pods = { name: 'pods', isKnown: true, silentMs: 10_000, maxSilentMs: 150_000 };
const allocator = { name: 'the allocator', isKnown: true, silentMs: 19_000, maxSilentMs: 20_000 };

describe('Readiness of the active watcher', () => {
  it('Readiness of the active watcher is true when it has started and all inputs are current', () => {
    expect(readiness(true, [pods, allocator])).to.equal(true);
  });

  it('Readiness of the active watcher is false until all initial states are complete and the controllers run', () => {
    expect(readiness(false, [pods, { ...allocator, isKnown: false }])).to.equal(
      'waiting for the initial state of the allocator',
    );
    expect(readiness(false, [pods, allocator])).to.equal('still starting');
  });

  it('Readiness of the active watcher is false and names the input when an input is silent', () => {
    const silent = { ...allocator, silentMs: 21_400 };
    expect(readiness(true, [pods, silent])).to.equal('no data from the allocator for 21 s');
    expect(readiness(true, [{ ...pods, silentMs: 151_000 }, silent])).to.equal(
      'no data from pods for 151 s, from the allocator for 21 s',
    );
  });

  it('Readiness of the active watcher is false with the message of an alarm', () => {
    expect(readiness(true, [pods, allocator], ['60 are missing', '6 vanished'])).to.equal(
      'ALARM: 60 are missing; 6 vanished',
    );
    const unread = { ...allocator, isKnown: false, silentMs: 95_000 };
    expect(readiness(false, [pods, unread], ['the ledger is frozen'])).to.equal('ALARM: the ledger is frozen');
  });
});
