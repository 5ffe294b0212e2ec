import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type { Event, HistoryRequest, WhyRequest } from '../../../proto/generated/ipledger.ts';
import { runProgram } from '../../testing/run-cli.ts';
import { startFakeAllocator, runWithFakeAllocator } from '../../testing/fake-allocator.ts';
import { at, attachment, event, addressEvents, position } from '../../testing/address-events.fixture.ts';

describe('ipledger why', () => {
  const why = (events: MessageInput<Event>[]) => ({ why: () => ({ position, events }) });

  /** Runs with a home folder whose kubeconfig names an API server. */
  async function withKubeconfig(api: string, run: (home: string) => Promise<void>): Promise<void> {
    const home = await mkdtemp(join(tmpdir(), 'ipledger-home-'));
    try {
      await mkdir(join(home, '.kube'));
      const cluster = { name: 'one', cluster: { server: api, 'insecure-skip-tls-verify': true } };
      const context = { name: 'one', context: { cluster: 'one', user: 'one' } };
      const config = { clusters: [cluster], contexts: [context], users: [{ name: 'one' }], 'current-context': 'one' };
      await writeFile(join(home, '.kube', 'config'), JSON.stringify(config));
      await run(home);
    } finally {
      await rm(home, { recursive: true });
    }
  }

  it('ipledger why prints the history of each Pod with the name, newest first', async () => {
    let received: WhyRequest | undefined;
    const replies = {
      why: (request: WhyRequest) => {
        received = request;
        return { position, events: addressEvents };
      },
    };
    const { status, stdout, stderr } = await runWithFakeAllocator(replies, 'why', 'default/web-0');
    expect({ status, stderr }).to.deep.equal({
      status: 0,
      stderr: 'the cluster was not read: there is no kubeconfig\n',
    });
    expect(received).to.include({ namespace: 'default', pod: 'web-0' });
    expect(stdout).to.equal(
      [
        'default/web-0',
        '  it has 172.17.0.100 of subnet macvlan, and no CNI ADD of macvlan.default has succeeded on node node-b. An Event FailedCreatePodSandBox shows the cause; without one, check that kubelet, Multus and node-agent run there',
        '',
        'in the ledger (uid two)',
        '  2026-11-17 14:40:00  172.17.0.100 of subnet macvlan allocated for macvlan.default on node node-b (dynamic)  (event 40)',
        '',
        'in the ledger (uid one, of StatefulSet/web)',
        '  2026-11-17 14:05:00  172.17.0.100 of subnet macvlan allocated for macvlan.default (static)  (event 5)',
        '  2026-11-17 14:07:00  172.17.0.100 bound to container c0ffeec0ffee on node node-a as net1  (event 7)',
        '  2026-11-17 14:30:00  172.17.0.100 released: owner-deleted: web was deleted  (event 30)',
        '  2026-11-17 14:31:00  172.17.0.100 unbound from container c0ffeec0ffee (container-deleted)  (event 31)',
        '',
      ].join('\n'),
    );
  });

  it('ipledger why prints the evidence by which the binding of a lost DEL ended', async () => {
    const evidence = 'its network namespace /run/netns/c1 is deleted';
    const cause = 'UNBIND_CAUSE_GARBAGE_COLLECTED';
    const unbound = { attachment, containerId: 'c0ffee'.repeat(4), interface: 'net1', cause, evidence } as const;
    const events = [event(31, { type: 'AddressUnbound', addressUnbound: unbound })];
    const { stdout } = await runWithFakeAllocator(why(events), 'why', 'default/web-0');
    expect(stdout).to.contain(`unbound from container c0ffeec0ffee (garbage-collected: ${evidence})  (event 31)`);
  });

  it('ipledger why reads the cluster of ~/.kube/config, and prints the history if the cluster does not answer', async () => {
    await withKubeconfig('http://127.0.0.1:1', async (HOME) => {
      await using server = await startFakeAllocator(why(addressEvents));
      const added = { IPLEDGER_ENDPOINT: server.endpoint, HOME };
      const { status, stdout, stderr } = await runProgram(['why', 'default/web-0'], added);
      expect(status).to.equal(0);
      expect(stdout).to.contain('in the ledger (uid two)');
      expect(stderr).to.match(/^cannot read \/api\/v1\/\S+ of the Kubernetes API at http:\/\/127\.0\.0\.1:1 /);
    });
  });

  it('ipledger why prints the Pod and its Events in the cluster while the ledger cannot be read', async () => {
    const pod = { metadata: { name: 'web-0', namespace: 'default', uid: 'two' }, status: { phase: 'Pending' } };
    const failed = {
      reason: 'FailedCreatePodSandBox',
      message: 'plugin type="kube-ovn" failed',
      lastTimestamp: '2026-11-17T14:40:00Z',
      source: { component: 'kubelet' },
    };
    const api = createServer(({ url = '' }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(url.includes('/events') ? { items: [failed] } : pod));
    }).listen(0, '127.0.0.1');
    await once(api, 'listening');
    try {
      await withKubeconfig(`http://127.0.0.1:${(api.address() as AddressInfo).port}`, async (HOME) => {
        const added = { IPLEDGER_ENDPOINT: '127.0.0.1:1', HOME };
        const { status, stdout, stderr } = await runProgram(['why', 'default/web-0', '--utc'], added);
        expect(status).not.to.equal(0);
        expect(stdout).to.contain('default/web-0\n  the ledger cannot be read: this is only what the cluster has\n');
        expect(stdout).to.contain('14:40:00Z  Event FailedCreatePodSandBox: plugin type="kube-ovn" failed\n');
        expect(stderr).to.match(/^ipledger: cannot reach the allocator at 127\.0\.0\.1:1 /);
      });
    } finally {
      api.close().closeAllConnections();
    }
  });

  it('ipledger why begins with the reason why nothing can be written', async () => {
    const cannotWrite = { reason: 'etcd-full', message: 'etcd is full. Run: etcdctl alarm disarm', since: at(9) };
    const getStatus = () => ({ position, cannotWrite });
    const { stdout } = await runWithFakeAllocator({ ...why(addressEvents), getStatus }, 'why', 'default/web-0');
    const [, first, second] = stdout.split('\n');
    expect(first).to.equal(
      `  nothing can be written to the ledger since ${at(9)}: etcd is full. Run: etcdctl alarm disarm`,
    );
    expect(second).to.match(/^ {2}it has 172\.17\.0\.100 /);
  });

  it('ipledger why explains what a Pod with a refusal waits for', async () => {
    const allocationRefused = {
      attachment,
      uid: 'one',
      reason: 'SUBNET_FULL',
      message: 'subnet macvlan has no free address',
    };
    const { stdout } = await runWithFakeAllocator(
      why([event(3, { type: 'AllocationRefused', allocationRefused })]),
      'why',
      'default/web-0',
    );
    expect(stdout).to.contain('it waits for an address of macvlan.default: subnet macvlan has no free address\n');
  });

  it('ipledger why escapes control characters, and prints exact times with -o wide', async () => {
    const allocationRefused = { attachment, uid: 'one', reason: 'X', message: '"\u001B[2J" is\nno address' };
    const events = [event(3, { type: 'AllocationRefused', allocationRefused })];
    const { stdout } = await runWithFakeAllocator(why(events), 'why', 'default/web-0', '-o', 'wide', '--utc');
    expect(stdout).to.contain('\n  it waits for an address of macvlan.default: " [2J" is no address\n');
    expect(stdout).to.contain('\n  2026-11-17 14:03:00.000Z  request for an address of macvlan.default rejected: ');
  });

  it('ipledger why takes the node from any attachment of the Pod, and names no node if no event does', async () => {
    const allocated = (seq: number, provider: string): MessageInput<Event> =>
      event(seq, {
        type: 'AddressAllocated',
        addressAllocated: { attachment: { ...attachment, provider }, uid: 'one', addresses: [{ address: '10.0.0.9' }] },
      });
    const bound = event(7, {
      type: 'AddressBound',
      addressBound: { attachment, uid: 'one', alloc: 5, containerId: 'c1', interface: 'net1', node: 'node-a' },
    });
    const both = [bound, allocated(6, 'storage.default'), allocated(5, attachment.provider)];
    const report = (await runWithFakeAllocator(why(both), 'why', 'default/web-0')).stdout;
    expect(report).to.contain('and container c1 on node node-a uses it\n');
    expect(report).to.contain('and no CNI ADD of storage.default has succeeded on node node-a');
    const alone = (await runWithFakeAllocator(why(both.slice(2)), 'why', 'default/web-0')).stdout;
    expect(alone).to.contain('it has 10.0.0.9 of subnet macvlan, and no container uses it yet\n');
  });

  it('ipledger why reports a Pod without an address', async () => {
    const { stdout } = await runWithFakeAllocator(why(addressEvents.slice(1)), 'why', 'default/web-0');
    expect(stdout).to.contain('default/web-0 has no address any more\n');
  });

  it('ipledger why reports that older events are left out, but includes the grants of current allocations', async () => {
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
    const replies = {
      why: () => ({ position, allocations: [{ seq: 40 }], events: restarts, nextPageToken: '40' }),
      history: ({ namespace, pod, pageToken }: HistoryRequest) => {
        expect([namespace, pod, pageToken]).to.deep.equal(['default', 'web-0', '40']);
        return { events: addressEvents.slice(0, 1) };
      },
    };
    const { stdout, stderr } = await runWithFakeAllocator(replies, 'why', 'default/web-0');
    expect(stderr).to.contain('older events are left out: `ipledger history pod default/web-0` prints them\n');
    expect(stdout.split('\n')[1]).to.equal(
      '  it has 172.17.0.100 of subnet macvlan, and container c999 on node node-b uses it',
    );
    expect(stdout).to.contain(
      'in the ledger (uid two)\n  2026-11-17 14:40:00  172.17.0.100 of subnet macvlan allocated',
    );
    const json = JSON.parse(
      (await runWithFakeAllocator(replies, 'why', 'default/web-0', '-o', 'json')).stdout,
    ) as object;
    expect(json).to.include({ more: true });
  });

  it('ipledger why prints the available events if older ones are sealed', async () => {
    const replies = {
      why: ({ pageToken }: WhyRequest) => {
        if (pageToken !== '') throw new IpledgerError('POSITION_GONE', 'event 29 is sealed');
        return { position, events: addressEvents.slice(0, 3), nextPageToken: '29' };
      },
    };
    const { status, stdout, stderr } = await runWithFakeAllocator(replies, 'why', 'default/web-0');
    expect(status).to.equal(0);
    expect(stdout).to.contain('  it has 172.17.0.100 of subnet macvlan');
    expect(stderr).to.contain('older events are left out');
  });

  it('ipledger why diagnoses the newest Pod, even if a container of an earlier Pod ended later', async () => {
    const [allocated, unbound, ...earlier] = addressEvents as [MessageInput<Event>, ...MessageInput<Event>[]];
    const { stdout } = await runWithFakeAllocator(
      why([{ ...unbound, seq: 41, at: at(41) }, allocated, ...earlier]),
      'why',
      'default/web-0',
    );
    expect(stdout.split('\n')[1]).to.match(/^ {2}it has 172\.17\.0\.100 .* on node node-b\./);
  });

  it('ipledger why exits with 4 for an unknown Pod', async () => {
    const { status, stdout } = await runWithFakeAllocator(why([]), 'why', 'default/none');
    expect(status).to.equal(4);
    expect(stdout).to.equal('default/none\n  no Pod with this name is in the ledger or in the cluster\n');
  });
});
