import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import type { Etcd } from '../../../test/harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../../../test/harness/network/tcp-proxy.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Head } from '../../../ledger/log/chain/chain.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { describeState } from '../../../ledger/domain/testing/describe-state.ts';
import { allocate } from '../../../ledger/domain/testing/event-fixtures.ts';
import type { Untimed } from '../../../ledger/domain/testing/given-when-then.ts';
import { campaign, currentWriter } from '../../../ledger/log/writer/election.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../../ledger/log/store/etcd-client.ts';
import { headKey, logKey } from '../../../ledger/log/store/keys.ts';
import { Replica } from '../../../ledger/log/reader/replica.ts';
import {
  type Answer,
  requestFor,
  bind,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  newId,
  release,
  silentLog,
} from '../../../ledger/log/testing/running-writer.ts';
import type { ProvenAnswer } from '../../../ledger/log/pending-request.ts';
import { runLeadership, type Leadership, type LeadershipOptions } from './leadership.ts';
import { startEtcdAndClient } from '../../../ledger/log/testing/etcd-and-client.ts';

/** A replica as wiring.ts starts it, but without the API. */
interface Member {
  readonly replica: Replica;
  /** The changes of its role: true if it became the writer. */
  readonly changes: boolean[];
  /** Waits until the replica is the writer, and submits a command. */
  submit(untimed: Untimed): Promise<ProvenAnswer<Answer>>;
  isWriter(): boolean;
  /** Stops the replica. Resolves to its error, if it has ended with one. */
  stop(): Promise<unknown>;
  readonly ended: Promise<unknown>;
}

async function join(
  client: Etcd3,
  name: string,
  beforeTerm: LeadershipOptions['beforeTerm'] = () => Promise.resolve(),
): Promise<Member> {
  const replica = await Replica.load(new EtcdLedger(client), never);
  const leadership: Leadership = { writer: undefined, follower: undefined };
  const stopping = new AbortController();
  const changes: boolean[] = [];
  const ended = runLeadership({
    replica,
    leadership,
    newId,
    elect: (signal) => campaign(client, { replica: name, address: name }, signal, silentLog),
    beforeTerm,
    eventVersion: () => 1,
    onLeadershipChange: (writing) => changes.push(writing),
    log: silentLog,
    signal: stopping.signal,
  }).catch((error: unknown) => error);
  return {
    replica,
    changes,
    ended,
    isWriter: () => leadership.writer !== undefined,
    async submit(untimed) {
      while (!leadership.writer) await turn();
      return leadership.writer.submit(requestFor(untimed));
    },
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

describe('Two replicas on one ledger', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: TcpProxy;
  let viaProxy: Etcd3;
  let first: Member;
  let second: Member;
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    ({ etcd, client } = await startEtcdAndClient(run));
  });
  beforeEach(async () => {
    await client.delete().all();
    proxy = await startTcpProxy(run, etcd.endpoint);
    viaProxy = connectEtcd([`http://${proxy.endpoint}`]);
    first = await join(viaProxy, 'first');
    await first.submit(macvlan);
    second = await join(client, 'second');
  });
  afterEach(async () => {
    proxy.restore();
    await Promise.all([first.stop(), second.stop()]);
    viaProxy.close();
  });
  after(() => run.end());

  /** Expects that both replicas, the log and the keys have the same state. */
  async function expectSameState(): Promise<void> {
    const ledger = new EtcdLedger(client);
    const folded = describeFold(await logOf(ledger));
    expect(describeState((await Replica.load(ledger, never)).state)).to.deep.equal(folded);
    for (const { replica } of [first, second]) {
      await replica.catchUp(never);
      expect(describeState(replica.state)).to.deep.equal(folded);
    }
  }

  it('of two replicas, one is the writer and one a standby that follows it', async () => {
    const { head } = await first.submit(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    expect(second.replica.head).to.deep.equal(head);
    expect(second.isWriter()).to.be.false;
    expect(await currentWriter(client)).to.deep.equal({ replica: 'first', address: 'first' });
    expect(first.replica.head.ledger).to.match(/^[0-9A-Z]{26}$/);
    expect(first.changes).to.deep.equal([true]);
  });

  it('the standby takes over without delay when the writer stops, and repeated commands return the same result', async () => {
    const given = await first.submit(allocate('a'));
    await first.submit(bind('a'));
    expect(await first.stop()).to.equal(undefined);
    expect(await currentWriter(client), 'the stopped writer has resigned').to.not.deep.equal({
      replica: 'first',
      address: 'first',
    });
    expect(first.changes).to.deep.equal([true, false]);
    const again = await second.submit(allocate('a'));
    expect(again.answer).to.deep.equal({ events: 0, addresses: given.answer.addresses });
    expect((await second.submit(release('a'))).answer.events).to.equal(1);
    expect((await second.submit(allocate('b'))).answer.addresses).to.deep.equal(['172.17.0.12']);
    await expectSameState();
  });

  it('Two replicas on one ledger keep one ledger id after a handover', async () => {
    const { ledger } = first.replica.head;
    await first.stop();
    const { head } = await second.submit(allocate('a'));
    expect(head.ledger).to.equal(ledger);
  });

  it('the standby takes over when the writer loses etcd; the writer sends no false reply, and follows after it reconnects', async function () {
    this.timeout(120_000);
    const { answer } = await first.submit(allocate('a'));
    proxy.delayBytes();
    const lost = failureOf(first.submit(allocate('b')));
    const taken = await second.submit(allocate('c'));
    expect(taken.answer.addresses).to.not.deep.equal(answer.addresses);
    expect((await second.submit(allocate('a'))).answer.addresses).to.deep.equal(answer.addresses);
    expect((await lost).message).to.contain('the outcome of the request is unknown');
    expect(first.isWriter()).to.be.false;

    proxy.restore();
    proxy.cut();
    const { head, answer: given } = await second.submit(allocate('b'));
    expect(given.addresses).to.have.length(1);
    while (first.replica.head.seq < head.seq) await turn();
    await expectSameState();
  });

  it('a replica that is elected writes nothing until its check of the ledger has succeeded', async () => {
    await Promise.all([first.stop(), second.stop()]);
    const heads: Head[] = [];
    first = await join(client, 'first', async () => {
      heads.push(await new EtcdLedger(client).head(never));
      expect(first.isWriter()).to.be.false;
      if (heads.length < 3) throw new IpledgerError('UNAVAILABLE', 'etcd did not answer');
    });
    const { head } = await first.submit(allocate('a'));
    expect(heads.map(({ seq }) => seq)).to.deep.equal([head.seq - 1, head.seq - 1, head.seq - 1]);
    expect(first.changes.filter((isWriting) => isWriting)).to.have.length(1);
    await first.stop();
    second = await join(client, 'second', () => Promise.reject(new IpledgerError('LEDGER_DAMAGED', 'no freeze')));
    expect(await second.ended).to.have.property('code', 'LEDGER_DAMAGED');
    expect(second.changes).to.not.include(true);
  });

  it('both replicas stop at a damaged ledger', async () => {
    await client.put(logKey(3)).value('{"forged":true}');
    expect(await failureOf(first.submit(allocate('a')))).to.have.property('code', 'NOT_WRITER');
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('both replicas stop when the ledger was rewound', async () => {
    const before = (await client.get(headKey).string()) ?? '';
    const { head } = await first.submit(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    await client.put(headKey).value(before);
    await client.delete().key(logKey(head.seq));
    expect(await failureOf(first.submit(allocate('b')))).to.have.property('code', 'NOT_WRITER');
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('both replicas detect a rewound ledger without any request', async () => {
    const before = (await client.get(headKey).string()) ?? '';
    const { head } = await first.submit(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    await client.delete().key(logKey(head.seq));
    await client.put(headKey).value(before);
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });
});
