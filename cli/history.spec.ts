import { expect } from 'chai';
import { IpledgerError } from '../lib/errors.ts';
import type { HistoryRequest } from '../proto/ipledger.ts';
import { allocatorThat, ask, at, life, position, run } from './specification.ts';

const history = () => ({ position, events: life, subnets: ['macvlan'] });

describe('ipledger history of', () => {
  const asked = async (...args: string[]): Promise<HistoryRequest | undefined> => {
    let request: HistoryRequest | undefined;
    const answers = {
      history: (got: HistoryRequest) => {
        request = got;
        return history();
      },
    };
    const { status, stderr } = await ask(answers, 'history', ...args);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    return request;
  };

  it('a Pod, a subnet, a node, an owner and a time asks for just that', async () => {
    expect(await asked('pod', 'default/web-0')).to.include({ namespace: 'default', pod: 'web-0', address: '' });
    expect(await asked('subnet', 'macvlan')).to.include({ subnet: 'macvlan', pod: '' });
    expect(await asked('node', 'node-a')).to.include({ node: 'node-a' });
    expect(await asked('owner', 'default/StatefulSet/web')).to.deep.include({
      namespace: 'default',
      owner: { kind: 'StatefulSet', name: 'web', uid: '' },
    });
    const period = ['--since', '2026-11-17 14:00', '--until', '2026-11-17 15:00', '--utc'];
    expect(await asked('all', ...period)).to.include({ since: at(0), until: '2026-11-17T15:00:00.000Z' });
  });

  it('what the log must be searched for goes on through pages without events', async () => {
    const pages: Record<string, object> = {
      '': { position, events: [], nextPageToken: '20' },
      '20': { position, events: life.slice(0, 1), nextPageToken: '10' },
      '10': { position, events: life.slice(4) },
    };
    const answers = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stdout } = await ask(answers, 'history', 'node', 'node-a');
    expect(status).to.equal(0);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '40', '5', '']);
  });

  it('what a long log is searched for says so once, and what would know at once', async () => {
    const pages: Record<string, object> = {
      '': { position: { ...position, seq: 900_000 }, searchedSeq: 880_001, nextPageToken: '880000' },
      '880000': { searchedSeq: 600_001, nextPageToken: '600000' },
      '600000': { searchedSeq: 300_001, nextPageToken: '300000' },
      '300000': { events: life.slice(0, 1), searchedSeq: 1 },
    };
    const answers = { history: ({ pageToken }: HistoryRequest) => pages[pageToken] ?? {} };
    const { status, stderr } = await ask(answers, 'history', 'node', 'node-a');
    expect({ status, stderr }).to.deep.equal({
      status: 0,
      stderr:
        'looked through 300000 events so far, and going on: the read model (--index or IPLEDGER_INDEX) would know at once\n',
    });
  });

  it('what has none exits with 4, and has a head as CSV', async () => {
    const answers = { history: () => ({ position, events: [] }) };
    const { status, stdout } = await ask(answers, 'history', 'pod', 'default/nobody', '-o', 'csv');
    expect({ status, stdout }).to.deep.equal({
      status: 4,
      stdout: 'seq,time,event,address,pod,detail,subnet,uid,provider,actor,command\r\n',
    });
  });

  it('what has none exits with 4', async () => {
    const ended = await ask({ history: () => ({ position, events: [] }) }, 'history', 'pod', 'default/nobody');
    expect(ended).to.deep.equal({ status: 4, stdout: '', stderr: 'no such event\n' });
  });

  it('anything but an address is asked of the read model, where there is one', async () => {
    await using index = await allocatorThat({ history });
    const there = { IPLEDGER_ENDPOINT: '127.0.0.1:1', IPLEDGER_INDEX: index.endpoint };
    expect((await run(['history', 'pod', 'default/web-0'], there)).status).to.equal(0);
    const { status, stderr } = await run(['history', '172.17.0.100'], there);
    expect(status).to.equal(3);
    expect(stderr).to.contain('cannot reach the allocator at 127.0.0.1:1');
    const nowhere = await run(['history', 'node', 'n', '--index', '127.0.0.1:1'], there);
    expect(nowhere.stderr).to.contain('cannot reach the read model at 127.0.0.1:1').and.to.contain('IPLEDGER_INDEX');
  });

  for (const [args, said] of [
    [['web-0'], 'web-0 is no address'],
    [['pod', 'web-0'], 'web-0 names no Pod: write NAMESPACE/NAME'],
    [['owner', 'web'], 'web names no owner'],
    [['house', 'white'], 'history house white: write pod, subnet, node or owner'],
    [['all', '--since', 'then'], '"then" is no time'],
  ] as const)
    it(`${args.join(' ')} exits with 2`, async () => {
      const { status, stderr } = await ask({ history }, 'history', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.contain(said);
    });
});

describe('ipledger history', () => {
  it('says that nothing happened to an address that was never used', async () => {
    const history = () => {
      throw new IpledgerError('ADDRESS_UNKNOWN', '172.17.0.99 was never used in any subnet');
    };
    const answers = { history, getStatus: () => ({ position }) };
    const ended = await ask(answers, 'history', '172.17.0.99', '--subnet', 'lan');
    expect(ended).to.deep.equal({ status: 4, stdout: '', stderr: '172.17.0.99 was never used in subnet lan\n' });
    const json = await ask(answers, 'history', '172.17.0.99', '-o', 'json');
    expect(json.status).to.equal(4);
    expect(JSON.parse(json.stdout)).to.deep.equal({ events: [], position, more: false });
  });
});
