import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { HistoryRequest } from '../../proto/generated/ipledger.ts';
import { addressEvents, at, position } from '../testing/address-events.fixture.ts';
import { runWithFakeAllocator, startFakeAllocator } from '../testing/fake-allocator.ts';
import { runProgram } from '../testing/run-cli.ts';

const history = () => ({ position, events: addressEvents, subnets: ['macvlan'] });

describe('ipledger history', () => {
  const sentRequest = async (...args: string[]): Promise<HistoryRequest | undefined> => {
    let request: HistoryRequest | undefined;
    const replies = {
      history: (received: HistoryRequest) => {
        request = received;
        return history();
      },
    };
    const { status, stderr } = await runWithFakeAllocator(replies, 'history', ...args);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    return request;
  };

  it('ipledger history requests the events of a Pod, a subnet, a node, an owner or a period', async () => {
    expect(await sentRequest('pod', 'default/web-0')).to.include({ namespace: 'default', pod: 'web-0', address: '' });
    expect(await sentRequest('subnet', 'macvlan')).to.include({ subnet: 'macvlan', pod: '' });
    expect(await sentRequest('node', 'node-a')).to.include({ node: 'node-a' });
    expect(await sentRequest('owner', 'default/StatefulSet/web')).to.deep.include({
      namespace: 'default',
      owner: { kind: 'StatefulSet', name: 'web', uid: '' },
    });
    const period = ['--since', '2026-11-17 14:00', '--until', '2026-11-17 15:00', '--utc'];
    expect(await sentRequest('all', ...period)).to.include({ since: at(0), until: '2026-11-17T15:00:00.000Z' });
  });

  it('ipledger history continues after pages without events', async () => {
    const pages: Record<string, object> = {
      '': { position, events: [], nextPageToken: '20' },
      '20': { position, events: addressEvents.slice(0, 1), nextPageToken: '10' },
      '10': { position, events: addressEvents.slice(4) },
    };
    const replies = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stdout } = await runWithFakeAllocator(replies, 'history', 'node', 'node-a');
    expect(status).to.equal(0);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '40', '5', '']);
  });

  it('ipledger history recommends the read model once during a long search', async () => {
    const pages: Record<string, object> = {
      '': { position: { ...position, seq: 900_000 }, searchedDownToSeq: 880_001, nextPageToken: '880000' },
      '880000': { searchedDownToSeq: 600_001, nextPageToken: '600000' },
      '600000': { searchedDownToSeq: 300_001, nextPageToken: '300000' },
      '300000': { events: addressEvents.slice(0, 1), searchedDownToSeq: 1 },
    };
    const replies = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stderr } = await runWithFakeAllocator(replies, 'history', 'node', 'node-a');
    expect({ status, stderr }).to.deep.equal({
      status: 0,
      stderr:
        '300000 events searched so far; the read model (--read-model or IPLEDGER_READ_MODEL) has an index and answers immediately\n',
    });
  });

  it('ipledger history prints the CSV header without events, and exits with 4', async () => {
    const replies = { history: () => ({ position, events: [] }) };
    const { status, stdout } = await runWithFakeAllocator(replies, 'history', 'pod', 'default/none', '-o', 'csv');
    expect({ status, stdout }).to.deep.equal({
      status: 4,
      stdout: 'seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n',
    });
  });

  it('ipledger history exits with 4 without events', async () => {
    const result = await runWithFakeAllocator(
      { history: () => ({ position, events: [] }) },
      'history',
      'pod',
      'default/none',
    );
    expect(result).to.deep.equal({ status: 4, stdout: '', stderr: 'no event matches\n' });
  });

  it('ipledger history sends queries to the read model, except those for an address', async () => {
    await using readModel = await startFakeAllocator({ history });
    const environment = { IPLEDGER_ENDPOINT: '127.0.0.1:1', IPLEDGER_READ_MODEL: readModel.endpoint };
    expect((await runProgram(['history', 'pod', 'default/web-0'], environment)).status).to.equal(0);
    const { status, stderr } = await runProgram(['history', '172.17.0.100'], environment);
    expect(status).to.equal(3);
    expect(stderr).to.contain('cannot reach the allocator at 127.0.0.1:1');
    const unreachable = await runProgram(['history', 'node', 'n', '--read-model', '127.0.0.1:1'], environment);
    expect(unreachable.stderr)
      .to.contain('cannot reach the read model at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1)')
      .and.to.contain('IPLEDGER_READ_MODEL');
  });

  for (const [args, message] of [
    [['web-0'], 'web-0 is not an address'],
    [['pod', 'web-0'], 'web-0 is not the name of a Pod: use NAMESPACE/NAME'],
    [['owner', 'web'], 'web is not the name of an owner'],
    [['house', 'white'], 'history house white: use pod, subnet, node or owner'],
    [['all', '--since', 'then'], '"then" is not a time'],
  ] as const)
    it(`ipledger history exits with 2 for ${args.join(' ')}`, async () => {
      const { status, stderr } = await runWithFakeAllocator({ history }, 'history', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.contain(message);
    });

  it('ipledger history exits with 4 for an address that was never used', async () => {
    const neverUsed = () => {
      throw new IpledgerError('ADDRESS_UNKNOWN', '172.17.0.99 was never used in any subnet');
    };
    const replies = { history: neverUsed, getStatus: () => ({ position }) };
    const result = await runWithFakeAllocator(replies, 'history', '172.17.0.99', '--subnet', 'lan');
    expect(result).to.deep.equal({ status: 4, stdout: '', stderr: '172.17.0.99 was never used in subnet lan\n' });
    const json = await runWithFakeAllocator(replies, 'history', '172.17.0.99', '-o', 'json');
    expect(json.status).to.equal(4);
    expect(JSON.parse(json.stdout)).to.deep.equal({ events: [], position, more: false });
  });
});
