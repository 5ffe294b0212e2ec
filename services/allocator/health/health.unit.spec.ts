import { expect } from 'chai';
import { waitForRetries } from '../../../ledger/log/testing/running-writer.ts';
import type { Follower } from '../../../ledger/log/reader/follower.ts';
import type { Writer } from '../../../ledger/log/writer/writer.ts';
import { isReplicaHealthy, LastWriter, runHealthUpdates } from './health.ts';
import type { Leadership } from '../leadership/leadership.ts';

const writing: Leadership = { writer: {} as Writer, follower: undefined };
const standby = (lagMs: number): Leadership => ({ writer: undefined, follower: { lagMs } as Follower });
const betweenRoles: Leadership = { writer: undefined, follower: undefined };

describe('The health of a replica', () => {
  it('the writer is healthy, and so is a standby that follows the log, even without a writer', () => {
    expect(isReplicaHealthy(writing, { isKnown: false })).to.be.true;
    expect(isReplicaHealthy(standby(1_000), { isKnown: true })).to.be.true;
  });

  it('a standby is unhealthy if it cannot follow the log, or has just started and has seen no writer', () => {
    expect(isReplicaHealthy(standby(6_000), { isKnown: true })).to.be.false;
    expect(isReplicaHealthy(standby(0), { isKnown: false })).to.be.false;
  });

  it('health is reported for the server and the service "writer", and stays the same between two roles', async () => {
    let leadership = standby(0);
    const statuses = new Map<string, string>();
    const stopping = new AbortController();
    const view: Leadership = {
      get writer() {
        return leadership.writer;
      },
      get follower() {
        return leadership.follower;
      },
    };
    const set = (service: string, status: string): void => void statuses.set(service, status);
    const running = runHealthUpdates(
      { leadership: view, lastWriter: { isKnown: true }, setStatus: set },
      stopping.signal,
    );
    const becomes = async (next: Leadership, server: string, writer: string): Promise<void> => {
      leadership = next;
      while (statuses.get('') !== server || statuses.get('writer') !== writer) await waitForRetries();
    };
    await becomes(standby(0), 'SERVING', 'NOT_SERVING');
    await becomes(writing, 'SERVING', 'SERVING');
    await becomes(betweenRoles, 'SERVING', 'NOT_SERVING');
    await becomes(standby(9_000), 'NOT_SERVING', 'NOT_SERVING');
    stopping.abort();
    await running;
  });
});

describe('LastWriter', () => {
  const clock = performance.now.bind(performance);
  afterEach(() => void (performance.now = clock));

  it('isKnown is true ten seconds after the start of the replica, or as soon as there is a writer', () => {
    let now = 0;
    performance.now = () => now;
    const [none, seen] = [new LastWriter(), new LastWriter()];
    now = 9_999;
    seen.onSeen();
    expect([none.isKnown, seen.isKnown, none.agoMs, seen.agoMs]).to.deep.equal([false, true, 9_999, 0]);
    now = 10_000;
    expect([none.isKnown, seen.isKnown, none.agoMs, seen.agoMs]).to.deep.equal([true, true, 10_000, 1]);
  });
});
