import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import type { Event, HistoryRequest, WhyRequest } from '../proto/ipledger.ts';
import { allocatorThat, ask, at, attachment, event, life, position, run } from './specification.ts';

describe('ipledger why', () => {
  const why = (events: Input<Event>[]) => ({ why: () => ({ position, events }) });

  it('tells the story of each Pod that had the name, the latest first', async () => {
    let asked: WhyRequest | undefined;
    const answers = {
      why: (request: WhyRequest) => {
        asked = request;
        return { position, events: life };
      },
    };
    const { status, stdout, stderr } = await ask(answers, 'why', 'default/web-0');
    expect({ status, stderr }).to.deep.equal({
      status: 0,
      stderr: 'the cluster was not asked: there is no kubeconfig\n',
    });
    expect(asked).to.include({ namespace: 'default', pod: 'web-0' });
    expect(stdout).to.equal(
      [
        'default/web-0',
        '  it has 172.17.0.100 of subnet macvlan, and waits for node node-b: no CNI ADD of macvlan.default came to its agent. Is kubelet there, do Multus and the agent run?',
        '',
        'in the ledger (uid two)',
        '  2026-11-17 14:40:00  was given 172.17.0.100 of subnet macvlan for macvlan.default on node node-b (dynamic)  (event 40)',
        '',
        'in the ledger (uid one, of StatefulSet/web)',
        '  2026-11-17 14:05:00  was given 172.17.0.100 of subnet macvlan for macvlan.default (static)  (event 5)',
        '  2026-11-17 14:07:00  container c0ffeec0ffee on node node-a was set up with 172.17.0.100 as net1  (event 7)',
        '  2026-11-17 14:30:00  lost 172.17.0.100: owner-deleted: web is gone  (event 30)',
        '  2026-11-17 14:31:00  container c0ffeec0ffee was told to let go of 172.17.0.100 (container-deleted)  (event 31)',
        '',
      ].join('\n'),
    );
  });

  it('looks for the cluster where kubectl does, and tells the rest without one that does not answer', async () => {
    const home = await mkdtemp(join(tmpdir(), 'ipledger-home-'));
    try {
      await mkdir(join(home, '.kube'));
      const cluster = { name: 'one', cluster: { server: 'http://127.0.0.1:1' } };
      const context = { name: 'one', context: { cluster: 'one', user: 'one' } };
      const config = { clusters: [cluster], contexts: [context], users: [{ name: 'one' }], 'current-context': 'one' };
      await writeFile(join(home, '.kube', 'config'), JSON.stringify(config));
      await using server = await allocatorThat(why(life));
      const added = { IPLEDGER_ENDPOINT: server.endpoint, HOME: home };
      const { status, stdout, stderr } = await run(['why', 'default/web-0'], added);
      expect(status).to.equal(0);
      expect(stdout).to.contain('in the ledger (uid two)');
      expect(stderr).to.match(/^cannot read \/api\/v1\/\S+ of the Kubernetes API at http:\/\/127\.0\.0\.1:1 /);
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('says what a Pod waits for that was refused', async () => {
    const allocationRefused = {
      attachment,
      uid: 'one',
      reason: 'SUBNET_FULL',
      message: 'subnet macvlan has no free address',
    };
    const { stdout } = await ask(
      why([event(3, { type: 'AllocationRefused', allocationRefused })]),
      'why',
      'default/web-0',
    );
    expect(stdout).to.contain('it waits for an address for macvlan.default: subnet macvlan has no free address\n');
  });

  it('keeps each fact in one line whatever the ledger quotes, and says when exactly where that is asked for', async () => {
    const allocationRefused = { attachment, uid: 'one', reason: 'X', message: '"\u001B[2J" is\nno address' };
    const events = [event(3, { type: 'AllocationRefused', allocationRefused })];
    const { stdout } = await ask(why(events), 'why', 'default/web-0', '-o', 'wide', '--utc');
    expect(stdout).to.contain('\n  it waits for an address for macvlan.default: " [2J" is no address\n');
    expect(stdout).to.contain(
      '\n  2026-11-17 14:03:00.000Z  asked for an address for macvlan.default, and was refused: ',
    );
  });

  it('knows from one attachment on which node the Pod of another is, and of none where nobody said', async () => {
    const given = (seq: number, provider: string): Input<Event> =>
      event(seq, {
        type: 'AddressAllocated',
        addressAllocated: { attachment: { ...attachment, provider }, uid: 'one', addresses: [{ address: '10.0.0.9' }] },
      });
    const bound = event(7, {
      type: 'AddressBound',
      addressBound: { attachment, uid: 'one', alloc: 5, containerId: 'c1', interface: 'net1', node: 'node-a' },
    });
    const both = [bound, given(6, 'storage.default'), given(5, attachment.provider)];
    const told = (await ask(why(both), 'why', 'default/web-0')).stdout;
    expect(told).to.contain('and container c1 on node node-a is set up with it\n');
    expect(told).to.contain('and waits for node node-a: no CNI ADD of storage.default came to its agent');
    const alone = (await ask(why(both.slice(2)), 'why', 'default/web-0')).stdout;
    expect(alone).to.contain('it has 10.0.0.9 of subnet macvlan, and no container was set up with it yet\n');
  });

  it('tells of one that is gone', async () => {
    const { stdout } = await ask(why(life.slice(1)), 'why', 'default/web-0');
    expect(stdout).to.contain('default/web-0 has no address any more\n');
  });

  it('says that it leaves out older events, but never forgets what the Pod holds', async () => {
    const restarts = Array.from({ length: 1_000 }, (_, index) =>
      event(41 + index, {
        at: at(41),
        type: 'AddressBound',
        addressBound: {
          attachment,
          uid: 'two',
          alloc: 40,
          containerId: `c${index}`,
          interface: 'net1',
          node: 'node-b',
        },
      }),
    ).toReversed();
    const answers = {
      why: () => ({ position, allocations: [{ seq: 40 }], events: restarts, nextPageToken: '40' }),
      history: ({ namespace, pod, pageToken }: HistoryRequest) => {
        expect([namespace, pod, pageToken]).to.deep.equal(['default', 'web-0', '40']);
        return { events: life.slice(0, 1) };
      },
    };
    const { stdout, stderr } = await ask(answers, 'why', 'default/web-0');
    expect(stderr).to.contain('older events are left out: ipledger history pod default/web-0 has them\n');
    expect(stdout.split('\n')[1]).to.equal(
      '  it has 172.17.0.100 of subnet macvlan, and container c999 on node node-b is set up with it',
    );
    expect(stdout).to.contain('in the ledger (uid two)\n  2026-11-17 14:40:00  was given 172.17.0.100');
    const json = JSON.parse((await ask(answers, 'why', 'default/web-0', '-o', 'json')).stdout) as object;
    expect(json).to.include({ more: true });
  });

  it('tells what is left where older events are sealed and not at hand', async () => {
    const answers = {
      why: ({ pageToken }: WhyRequest) => {
        if (pageToken !== '') throw new IpledgerError('POSITION_GONE', 'event 29 is sealed');
        return { position, events: life.slice(0, 3), nextPageToken: '29' };
      },
    };
    const { status, stdout, stderr } = await ask(answers, 'why', 'default/web-0');
    expect(status).to.equal(0);
    expect(stdout).to.contain('  it has 172.17.0.100 of subnet macvlan');
    expect(stderr).to.contain('older events are left out');
  });

  it('speaks of the Pod that came last, though a container of the one before ended later', async () => {
    const [given, unbound, ...earlier] = life as [Input<Event>, ...Input<Event>[]];
    const { stdout } = await ask(why([{ ...unbound, seq: 41, at: at(41) }, given, ...earlier]), 'why', 'default/web-0');
    expect(stdout.split('\n')[1]).to.match(/^ {2}it has 172\.17\.0\.100 .* waits for node node-b/);
  });

  it('exits with 4 for one that nobody knows', async () => {
    const { status, stdout } = await ask(why([]), 'why', 'default/nobody');
    expect(status).to.equal(4);
    expect(stdout).to.equal('default/nobody\n  neither the ledger nor the cluster knows a Pod of that name\n');
  });
});
