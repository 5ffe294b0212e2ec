import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { IpledgerError } from '../../lib/errors.ts';
import type { Event, WatchRequest } from '../../proto/generated/ipledger.ts';
import { cleanEnvironment, ipledgerPath } from '../testing/run-cli.ts';
import { startFakeAllocator, runWithFakeAllocator } from '../testing/fake-allocator.ts';
import { addressEvents, position } from '../testing/address-events.fixture.ts';

describe('ipledger watch', () => {
  const events = addressEvents.toReversed();
  const expired = new IpledgerError('UNAUTHENTICATED', 'the token has expired');

  it('ipledger watch prints each event as it arrives, and ends after --count events', async () => {
    let received: WatchRequest | undefined;
    const watch = (request: WatchRequest) => {
      received = request;
      return [
        { position, events: [] },
        { position: { ...position, seq: 7 }, events: events.slice(0, 2) },
        { position, events: events.slice(2) },
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
    const { status, stdout, stderr } = await runWithFakeAllocator({ watch }, 'watch', ...args);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '7', '30', '']);
    expect(received).to.deep.equal({
      fromSeq: 5,
      subnet: 'macvlan',
      namespace: 'default',
      pod: 'web-0',
      node: 'node-a',
      address: '172.17.0.100',
      types: ['AddressBound', 'AddressReleased'],
    });
    const lines = (
      await runWithFakeAllocator({ watch }, 'watch', '--from', '5', ...filters, '--count', '2', '-o', 'json')
    ).stdout
      .trim()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Event).seq)).to.deep.equal([5, 7]);
    const documents = (
      await runWithFakeAllocator({ watch }, 'watch', '--from', '5', ...filters, '--count', '2', '-o', 'yaml')
    ).stdout;
    expect(parseAllDocuments(documents).map((document) => (document.toJS() as Event).seq)).to.deep.equal([5, 7]);
  });

  it('ipledger watch continues with the next event after a stream fails', async () => {
    const from: number[] = [];
    const watch = ({ fromSeq }: WatchRequest) => {
      from.push(fromSeq);
      if (from.length === 2) throw new IpledgerError('UNAVAILABLE', 'this replica stops: connect to another');
      return [
        {
          position: { ...position, seq: from.length === 1 ? 5 : 7 },
          events: events.slice(from.length === 1 ? 0 : 1, from.length === 1 ? 1 : 2),
        },
      ];
    };
    const { status, stdout, stderr } = await runWithFakeAllocator(
      { watch },
      'watch',
      '--subnet',
      'macvlan',
      '--count',
      '2',
    );
    expect(status).to.equal(0);
    expect(from).to.deep.equal([0, 6, 6]);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '7', '']);
    expect(stderr).to.equal('this replica stops: connect to another; continuing with event 6\n');
  });

  it('ipledger watch continues after its token expired, when it is renewed', async () => {
    const from: number[] = [];
    const watch = ({ fromSeq }: WatchRequest) => {
      from.push(fromSeq);
      if (from.length === 2 || from.length === 3) throw expired;
      const [seq, index] = from.length === 1 ? [5, 0] : [7, 1];
      return [{ position: { ...position, seq }, events: events.slice(index, index + 1) }];
    };
    const run = await runWithFakeAllocator({ watch }, 'watch', '--subnet', 'macvlan', '--count', '2');
    expect(from).to.deep.equal([0, 6, 6, 6]);
    expect(run).to.include({ status: 0, stderr: 'the token has expired; continuing with event 6\n' });
  });

  it('ipledger watch fails with a token that no allocator has accepted', async () => {
    const watch = (): never => {
      throw expired;
    };
    const run = await runWithFakeAllocator({ watch }, 'watch', '--from', '5');
    expect(run).to.include({ status: 1, stderr: 'ipledger: the token has expired\n' });
  });

  it('ipledger watch fails when the ledger was restored between two streams', async () => {
    const positions: (number | undefined)[] = [];
    const watch = ({ after }: WatchRequest) => {
      positions.push(after?.seq);
      if (after)
        throw new IpledgerError('POSITION_GONE', `event ${after.seq} of epoch ${after.epoch} may not be in it`);
      return [{ position: { ...position, seq: 5 }, events: events.slice(0, 1) }];
    };
    const { status, stderr } = await runWithFakeAllocator({ watch }, 'watch', '--subnet', 'macvlan');
    expect(positions).to.deep.equal([undefined, 5]);
    expect({ status, stderr }).to.deep.equal({
      status: 1,
      stderr: 'ipledger: event 5 of epoch 1 may not be in it\n',
    });
  });

  it('ipledger watch skips no event when a stream fails after its first reply', async () => {
    const from: number[] = [];
    const watch = ({ fromSeq }: WatchRequest) => {
      from.push(fromSeq);
      return [{ position, events: [] }, ...(from.length === 1 ? [] : [{ position, events: events.slice(0, 1) }])];
    };
    const { stdout } = await runWithFakeAllocator({ watch }, 'watch', '--from', '5', '--count', '1');
    expect(from).to.deep.equal([5, 5]);
    expect(stdout.split('\n').map((line) => line.split(/ +/)[0])).to.deep.equal(['SEQ', '5', '']);
  });

  it('ipledger watch prints the event to continue with on Ctrl-C', async () => {
    await using server = await startFakeAllocator({ watch: () => [{ position, events: events.slice(0, 1) }] });
    const child = spawn(ipledgerPath, ['watch', '--from', '1', '--subnet', 'macvlan'], {
      env: cleanEnvironment({ IPLEDGER_ENDPOINT: server.endpoint }),
    });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const status = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    child.kill('SIGINT');
    expect(await status).to.equal(130);
    expect(stderr).to.match(/continue with --from 43\n$/);
  });
});
