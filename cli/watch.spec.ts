import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { IpledgerError } from '../lib/errors.ts';
import type { Event, WatchRequest } from '../proto/ipledger.ts';
import { allocatorThat, ask, environment, ipledger, life, position } from './specification.ts';

describe('ipledger watch', () => {
  const told = life.toReversed();

  it('prints events as they come, a line each, and ends after as many as were asked for', async () => {
    let asked: WatchRequest | undefined;
    const watch = (request: WatchRequest) => {
      asked = request;
      return [
        { position, events: [] },
        { position, events: told.slice(0, 2) },
        { position, events: told.slice(2) },
      ];
    };
    const filters = [
      '--subnet',
      'macvlan',
      '-n',
      'default',
      '--pod',
      'web-0',
      '--node',
      'node-a',
      '--address',
      '172.17.0.100',
    ];
    const args = ['--from', '5', '--count', '3', ...filters, '--type', 'AddressBound', 'AddressReleased'];
    const { status, stdout, stderr } = await ask({ watch }, 'watch', ...args);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '7', '30', '']);
    expect(asked).to.deep.equal({
      fromSeq: 5,
      subnet: 'macvlan',
      namespace: 'default',
      pod: 'web-0',
      node: 'node-a',
      address: '172.17.0.100',
      types: ['AddressBound', 'AddressReleased'],
    });
    const lines = (await ask({ watch }, 'watch', '--count', '2', '-o', 'json')).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Event).seq)).to.deep.equal([5, 7]);
    const documents = (await ask({ watch }, 'watch', '--count', '2', '-o', 'yaml')).stdout;
    expect(parseAllDocuments(documents).map((document) => (document.toJS() as Event).seq)).to.deep.equal([5, 7]);
  });

  it('goes on where it was when a stream breaks', async () => {
    const from: number[] = [];
    const watch = ({ fromSeq }: WatchRequest) => {
      from.push(fromSeq);
      if (from.length === 2) throw new IpledgerError('UNAVAILABLE', 'this replica stops: go on at another');
      return [
        {
          position: { ...position, seq: from.length === 1 ? 5 : 7 },
          events: told.slice(from.length === 1 ? 0 : 1, from.length === 1 ? 1 : 2),
        },
      ];
    };
    const { status, stdout, stderr } = await ask({ watch }, 'watch', '--count', '2');
    expect(status).to.equal(0);
    expect(from).to.deep.equal([0, 6, 6]);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '7', '']);
    expect(stderr).to.equal('this replica stops: go on at another; going on with event 6\n');
  });

  it('says so when the ledger was restored meanwhile, and does not go on as if it were the same', async () => {
    const known: (number | undefined)[] = [];
    const watch = ({ after }: WatchRequest) => {
      known.push(after?.seq);
      if (after)
        throw new IpledgerError('POSITION_GONE', `event ${after.seq} of epoch ${after.epoch} may not be in it`);
      return [{ position: { ...position, seq: 5 }, events: told.slice(0, 1) }];
    };
    const { status, stderr } = await ask({ watch }, 'watch');
    expect(known).to.deep.equal([undefined, 5]);
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: 'ipledger: event 5 of epoch 1 may not be in it\n',
    });
  });

  it('misses nothing when a stream breaks that has only said where the ledger stands', async () => {
    const from: number[] = [];
    const watch = ({ fromSeq }: WatchRequest) => {
      from.push(fromSeq);
      return [{ position, events: [] }, ...(from.length === 1 ? [] : [{ position, events: told.slice(0, 1) }])];
    };
    const { stdout } = await ask({ watch }, 'watch', '--from', '5', '--count', '1');
    expect(from).to.deep.equal([5, 5]);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '']);
  });

  it('says on Ctrl-C with which event to go on', async () => {
    await using server = await allocatorThat({ watch: () => [{ position, events: told.slice(0, 1) }] });
    const child = spawn(ipledger, ['watch', '--from', '1'], {
      env: environment({ IPLEDGER_ENDPOINT: server.endpoint }),
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    const ended = new Promise((resolve) => child.once('close', (status) => resolve(status)));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    expect(await ended).to.equal(130);
    expect(said).to.match(/go on with --from 43\n$/);
  });
});
