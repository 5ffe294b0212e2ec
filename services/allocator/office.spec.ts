import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { type Etcd, startEtcd } from '../../test/harness/etcd.ts';
import { type Proxy, startProxy } from '../../test/harness/proxy.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { describeState } from './domain/describe.ts';
import { allocate, type Untimed } from './domain/specification.ts';
import { campaign, currentWriter } from './ledger/election.ts';
import { EtcdLedger } from './ledger/etcd.ts';
import { connectEtcd } from './ledger/etcd-client.ts';
import { headKey, logKey } from './ledger/keys.ts';
import { Replica } from './ledger/replica.ts';
import {
  type Answer,
  ask,
  bind,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  newId,
  release,
  silent,
} from './ledger/specification.ts';
import type { Proven } from './ledger/ask.ts';
import { keepUp, type Office } from './office.ts';

/** A replica as main.ts makes one, without the API. */
interface Member {
  readonly replica: Replica;
  /** Whether it was the writer, each time that changed. */
  readonly changes: boolean[];
  /** Has it decide something; waits until it is the writer. */
  does(untimed: Untimed): Promise<Proven<Answer>>;
  writing(): boolean;
  /** Asks it to stop; resolves to what it ended with. */
  stop(): Promise<unknown>;
  readonly ended: Promise<unknown>;
}

async function join(client: Etcd3, name: string): Promise<Member> {
  const replica = await Replica.load(new EtcdLedger(client), never);
  const office: Office = { writer: undefined, follower: undefined };
  const stopping = new AbortController();
  const changes: boolean[] = [];
  const ended = keepUp({
    replica,
    office,
    newId,
    elect: (signal) => campaign(client, { replica: name, address: name }, signal, silent),
    eventVersion: () => 1,
    onWriter: (writing) => changes.push(writing),
    log: silent,
    signal: stopping.signal,
  }).catch((error: unknown) => error);
  return {
    replica,
    changes,
    ended,
    writing: () => office.writer !== undefined,
    async does(untimed) {
      while (!office.writer) await turn();
      return office.writer.submit(ask(untimed));
    },
    stop() {
      stopping.abort();
      return ended;
    },
  };
}

describe('Two allocators on one ledger', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: Proxy;
  let far: Etcd3;
  let first: Member;
  let second: Member;
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    etcd = await startEtcd(run);
    client = connectEtcd([etcd.endpoint]);
  });
  beforeEach(async () => {
    await client.delete().all();
    proxy = await startProxy(run, etcd.endpoint);
    far = connectEtcd([`http://${proxy.endpoint}`]);
    first = await join(far, 'first');
    await first.does(macvlan);
    second = await join(client, 'second');
  });
  afterEach(async () => {
    proxy.mend();
    await Promise.all([first.stop(), second.stop()]);
    far.close();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  /** Both replicas, the log and the keys say the same. */
  async function assertAgreed(): Promise<void> {
    const ledger = new EtcdLedger(client);
    const folded = describeFold(await logOf(ledger));
    expect(describeState((await Replica.load(ledger, never)).state)).to.deep.equal(folded);
    for (const { replica } of [first, second]) {
      await replica.catchUp(never);
      expect(describeState(replica.state)).to.deep.equal(folded);
    }
  }

  it('are one that writes and one that follows', async () => {
    const { head } = await first.does(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    expect(second.replica.head).to.deep.equal(head);
    expect(second.writing()).to.be.false;
    expect(await currentWriter(client)).to.deep.equal({ replica: 'first', address: 'first' });
    expect(first.replica.head.ledger).to.match(/^[0-9A-Z]{26}$/);
    expect(first.changes).to.deep.equal([true]);
  });

  it('hand over at once when the writer is stopped; what was acknowledged is there, repeats answer the same', async () => {
    const given = await first.does(allocate('a'));
    await first.does(bind('a'));
    expect(await first.stop()).to.equal(undefined);
    expect(await currentWriter(client), 'it has resigned').to.not.deep.equal({ replica: 'first', address: 'first' });
    expect(first.changes).to.deep.equal([true, false]);
    const again = await second.does(allocate('a'));
    expect(again.answer).to.deep.equal({ events: 0, addresses: given.answer.addresses });
    expect((await second.does(release('a'))).answer.events).to.equal(1);
    expect((await second.does(allocate('b'))).answer.addresses).to.deep.equal(['172.17.0.12']);
    await assertAgreed();
  });

  it('have one ledger, named once', async () => {
    const { ledger } = first.replica.head;
    await first.stop();
    const { head } = await second.does(allocate('a'));
    expect(head.ledger).to.equal(ledger);
  });

  it('hand over when the writer is cut off; it answers nothing wrong, steps down, and follows once it is back', async function () {
    this.timeout(120_000);
    const { answer } = await first.does(allocate('a'));
    proxy.hold();
    const lost = failureOf(first.does(allocate('b')));
    const taken = await second.does(allocate('c'));
    expect(taken.answer.addresses).to.not.deep.equal(answer.addresses);
    expect((await second.does(allocate('a'))).answer.addresses).to.deep.equal(answer.addresses);
    expect((await lost).message).to.contain('whether it carried the request out is not known');
    expect(first.writing()).to.be.false;

    proxy.mend();
    proxy.cut();
    const { head, answer: given } = await second.does(allocate('b'));
    expect(given.addresses).to.have.length(1);
    while (first.replica.head.seq < head.seq) await turn();
    await assertAgreed();
  });

  it('stop for good at a ledger that is damaged, instead of guessing', async () => {
    await client.put(logKey(3)).value('{"forged":true}');
    expect(await failureOf(first.does(allocate('a')))).to.have.property('code', 'NOT_WRITER');
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('stop for good when the ledger was rewound', async () => {
    const before = (await client.get(headKey).string()) ?? '';
    const { head } = await first.does(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    await client.put(headKey).value(before);
    await client.delete().key(logKey(head.seq));
    expect(await failureOf(first.does(allocate('b')))).to.have.property('code', 'NOT_WRITER');
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('notice that it was rewound also when nobody asks anything', async () => {
    const before = (await client.get(headKey).string()) ?? '';
    const { head } = await first.does(allocate('a'));
    while (second.replica.head.seq < head.seq) await turn();
    await client.delete().key(logKey(head.seq));
    await client.put(headKey).value(before);
    for (const { ended } of [first, second]) expect(await ended).to.have.property('code', 'LEDGER_DAMAGED');
  });
});
