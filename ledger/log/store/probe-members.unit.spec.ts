import { getEventListeners } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { status } from '../../../lib/errors.ts';
import type { ClusterHealth } from './cluster-health.ts';
import { poolOf } from './connection-pool.ts';
import { headKey } from './keys.ts';
import { probeMembers } from './probe-members.ts';

const { setTimeout: sleep } = timers;
const [now, wall] = [performance.now.bind(performance), Date.now];

interface Failure {
  readonly code: number;
  readonly details: string;
}

type Reply = { readonly header: { readonly raft_term: string } };
type OnReply = (error: Failure | null, reply?: Reply) => void;

/** A probe that waits for the reply of its member. */
interface Probe {
  readonly member: number;
  readonly request: object;
  readonly deadlineMs: number;
  readonly reply: OnReply;
  isCancelled: boolean;
}

describe('probeMembers', () => {
  let time: number;
  let probes: Probe[];
  let pauses: { readonly ms: number; readonly options: object; readonly end: () => void }[];
  let reports: string[];
  let lost: AbortController[];
  let stopping: AbortController;
  beforeEach(() => {
    [time, probes, pauses, reports, stopping] = [100, [], [], [], new AbortController()];
    lost = [new AbortController(), new AbortController()];
    performance.now = () => time;
    Date.now = () => 1_000_000 + time;
    const setTimeout = (ms: number, _value: unknown, options: object): Promise<void> =>
      new Promise((end) => {
        pauses.push({ ms, options, end });
      });
    Object.assign(timers, { setTimeout });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    stopping.abort();
    Object.assign(timers, { setTimeout: sleep });
    syncBuiltinESMExports();
    [performance.now, Date.now] = [now, wall];
  });

  const turns = async (): Promise<void> => {
    for (let count = 0; count < 10; count++) await turn();
  };
  const hosts = [0, 1].map((member) => ({
    getServiceClient: () => ({
      range(request: object, _metadata: object, { deadline }: { readonly deadline: number }, reply: OnReply) {
        const probe: Probe = { member, request, deadlineMs: deadline - Date.now(), reply, isCancelled: false };
        probes.push(probe);
        return { cancel: () => (probe.isCancelled = true) };
      },
    }),
    resetAllServices: () => reports.push(`${member} gets new connections`),
  }));
  const health = {
    order: (at: number) => (at === 100 ? [1, 0] : [0, 1]),
    lost: (member: number) => lost[member]?.signal,
    onSent: (member: number, at: number) => reports.push(`${member} sent at ${at}`),
    onAnswered: (member: number, at: number, term: number) => reports.push(`${member} answered at ${at}: ${term}`),
    onFailed: (member: number, { details }: Failure) => reports.push(`${member} failed: ${details}`),
  } as unknown as ClusterHealth;

  /** Probes the first members, and waits until the probes are sent. */
  async function start(members = 1): Promise<Etcd3> {
    const pool = { hosts: hosts.slice(0, members), authenticator: { getMetadata: () => Promise.resolve({}) } };
    const client = { pool } as unknown as Etcd3;
    probeMembers(client, health, stopping.signal);
    await turns();
    return client;
  }
  const answer = async (term = '7'): Promise<void> => {
    time += 3;
    probes.at(-1)?.reply(null, { header: { raft_term: term } });
    await turns();
  };
  const fail = async (code: number, details = 'a failure'): Promise<void> => {
    probes.at(-1)?.reply({ code, details });
    await turns();
  };

  it('probeMembers reads the key of the head at each member, and reports when that was sent and answered, with the term of etcd', async () => {
    await start(2);
    expect(probes.map(({ member }) => member)).to.deep.equal([0, 1]);
    for (const { request, deadlineMs } of probes)
      expect([request, deadlineMs]).to.deep.equal([{ key: Buffer.from(headKey), count_only: true }, 5_000]);
    await answer();
    expect(reports).to.deep.equal(['0 sent at 100', '1 sent at 100', '1 answered at 103: 7']);
  });

  it('probeMembers probes a member again 200 ms after its answer, and does not keep its process alive in this time', async () => {
    await start();
    expect(pauses).to.have.length(0);
    await answer();
    expect([probes.length, pauses.map(({ ms }) => ms)]).to.deep.equal([1, [200]]);
    expect(pauses[0]?.options).to.deep.equal({ ref: false });
    pauses[0]?.end();
    await turns();
    expect([probes.length, pauses.length]).to.deep.equal([2, 1]);
  });

  for (const name of ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED', 'UNKNOWN', 'INTERNAL'] as const)
    it(`probeMembers reports a member that replies ${name} as failed, and opens new connections to it`, async () => {
      await start();
      await fail(status[name]);
      expect(reports.slice(1)).to.deep.equal(['0 failed: a failure', '0 gets new connections']);
      expect(pauses.map(({ ms }) => ms)).to.deep.equal([200]);
    });

  it('probeMembers reports a member that refuses the read as one that answers, without a term', async () => {
    await start();
    await fail(status.PERMISSION_DENIED);
    expect(reports.slice(1)).to.deep.equal(['0 answered at 100: 0']);
  });

  it('probeMembers reads again at once when a member replies that etcd has a new leader', async () => {
    await start();
    await fail(status.UNAVAILABLE, 'etcdserver: leader changed');
    expect([probes.length, pauses.length]).to.deep.equal([2, 0]);
    await answer();
    expect(reports.slice(1)).to.deep.equal(['0 answered at 103: 7']);
  });

  it('probeMembers ends the probe of a member that is found to be lost', async () => {
    await start();
    lost[0]?.abort();
    expect(probes[0]?.isCancelled).to.equal(true);
    await fail(status.CANCELLED, 'etcdserver: leader changed');
    expect([probes.length, reports.slice(1)]).to.deep.equal([
      1,
      ['0 failed: etcdserver: leader changed', '0 gets new connections'],
    ]);
  });

  it('probeMembers waits a second for a lost member, whose probe it does not end', async () => {
    lost[0]?.abort();
    await start();
    expect(probes.map(({ deadlineMs, isCancelled }) => [deadlineMs, isCancelled])).to.deep.equal([[1_000, false]]);
    await answer();
    expect(reports.slice(1)).to.deep.equal(['0 answered at 103: 7']);
    expect(getEventListeners(stopping.signal, 'abort')).to.deep.equal([]);
  });

  it('probeMembers ends with its signal, and reports no failure for that', async () => {
    await start();
    stopping.abort();
    expect(probes[0]?.isCancelled).to.equal(true);
    await fail(status.CANCELLED, 'etcdserver: leader changed');
    expect([probes.length, reports, pauses]).to.deep.equal([1, ['0 sent at 100'], []]);
  });

  it('probeMembers sends no other probe when its signal is aborted in a pause', async () => {
    await start();
    await answer();
    stopping.abort();
    pauses[0]?.end();
    await turns();
    expect(probes).to.have.length(1);
  });

  it('probeMembers makes calls try the members in the order of their health at that time', async () => {
    const order = poolOf(await start(2)).shuffledHosts();
    const members = (): number[] => {
      const tried: readonly unknown[] = [order.next().value, order.next().value];
      return tried.map((each) => hosts.findIndex((host) => host === each));
    };
    expect(members()).to.deep.equal([1, 0]);
    time = 200;
    expect(members()).to.deep.equal([0, 1]);
  });
});
