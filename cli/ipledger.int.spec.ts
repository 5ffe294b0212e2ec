import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../lib/errors.ts';
import { startTestServer } from '../lib/grpc/testing/grpc-test-server.ts';
import { IpamService } from '../proto/generated/ipledger.ts';
import { position } from './testing/address-events.fixture.ts';
import { runWithFakeAllocator, startFakeAllocator } from './testing/fake-allocator.ts';
import { cleanEnvironment, ipledgerPath, runProgram, startProgram } from './testing/run-cli.ts';

describe('Errors of ipledger', () => {
  it('Errors of ipledger exit with 1 and the message of the allocator when it rejects the request', async () => {
    const history = () => {
      throw new IpledgerError('POSITION_GONE', 'event 7 is sealed,\nand no archive is available\u001B[2J');
    };
    const result = await runWithFakeAllocator({ history }, 'history', '172.17.0.99');
    expect(result).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: 'ipledger: event 7 is sealed,; and no archive is available\\u001b[2J\n',
    });
  });

  it('Errors of ipledger exit with 1 when the allocator answers UNAVAILABLE', async () => {
    const list = () => {
      throw new IpledgerError('UNAVAILABLE', 'etcd does not answer');
    };
    const result = await runWithFakeAllocator({ list }, 'allocations');
    expect(result).to.deep.equal({ status: 1, stdout: '', stderr: 'ipledger: etcd does not answer\n' });
  });

  it('Errors of ipledger exit with 3 and the address when no allocator answers', async () => {
    const server = await startTestServer();
    await server[Symbol.asyncDispose]();
    const result = await runProgram(['subnets'], { IPLEDGER_ENDPOINT: server.endpoint });
    expect(result).to.deep.equal({
      status: 3,
      stdout: '',
      stderr:
        `ipledger: cannot reach the allocator at ${server.endpoint} (connect ECONNREFUSED ${server.endpoint}): ` +
        'check that it runs, and its address in IPLEDGER_ENDPOINT or --allocator. If it ended, its log states why\n',
    });
  });

  const endpoint = { IPLEDGER_ENDPOINT: '127.0.0.1:1' };
  const invalidUsage: [string, string[], Record<string, string>, string][] = [
    ['no verb', [], endpoint, 'Usage: ipledger [options] [command]'],
    ['a verb that does not exist', ['subnts'], endpoint, "ipledger: unknown command 'subnts'"],
    ['no allocator', ['subnets'], { IPLEDGER_ENDPOINT: '' }, 'ipledger: IPLEDGER_ENDPOINT is empty'],
    [
      'an unknown format',
      ['subnets', '-o', 'xml'],
      endpoint,
      "ipledger: option '-o, --output <format>' argument 'xml' is",
    ],
    ['no address', ['history'], endpoint, "ipledger: missing required argument 'subject'"],
    ['a limit that is not a number', ['history', '::1', '--limit', 'all'], endpoint, "argument 'all' is invalid"],
    [
      'a period that ends before it starts',
      ['history', 'all', '--since', '2026-11-17 15:00', '--until', '2026-11-17 14:00'],
      endpoint,
      'ipledger: --until 2026-11-17 14:00 is not after --since 2026-11-17 15:00',
    ],
    ['a limit of nothing', ['history', '::1', '--limit', '0'], endpoint, 'It must be a number from 1 to 1000000'],
    ['half of the TLS files', ['subnets'], { ...endpoint, IPLEDGER_TLS_CA: 'ca.pem' }, 'set all three for TLS'],
  ];
  for (const [what, args, added, message] of invalidUsage)
    it(`Errors of ipledger exit with 2 for ${what}`, async () => {
      const { status, stdout, stderr } = await runProgram(args, added);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.contain(message);
    });

  it('Errors of ipledger exit with 130 and no message on Ctrl-C', async () => {
    const received = Promise.withResolvers<void>();
    await using server = await startTestServer([IpamService, { listAllocations: () => received.resolve() }]);
    const child = spawn(ipledgerPath, ['allocations'], {
      env: cleanEnvironment({ IPLEDGER_ENDPOINT: server.endpoint }),
    });
    let stderr = '';
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const status = new Promise((resolve) => child.once('close', (code) => resolve(code)));
    await received.promise;
    child.kill('SIGINT');
    expect(await status).to.equal(130);
    expect(stderr).to.equal('');
  });
});

describe('The ipledger program', () => {
  it('The ipledger program prints its help and its version', async () => {
    const help = await runProgram(['--help']);
    expect(help.status).to.equal(0);
    expect(help.stdout).to.contain('allocations').and.to.contain('Exit status');
    const version = await runProgram(['--version']);
    expect(version.status).to.equal(0);
    expect(version.stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  it('The ipledger program exits with 0 and no message when the reader closes the pipe', async () => {
    const allocations = Array.from({ length: 1_000 }, () => ({ subnet: 'macvlan', interface: 'net1' }));
    await using server = await startFakeAllocator({ list: () => ({ position, allocations }) });
    const line = '{ "$0" allocations -o json; echo "status $?" >&2; } | true';
    const { stderr } = await startProgram(
      ['-c', line, ipledgerPath],
      { IPLEDGER_ENDPOINT: server.endpoint },
      '/bin/sh',
    );
    expect(stderr).to.equal('status 0\n');
  });

  it('The ipledger program exits with the status of the answer when the reader closes the pipe, and with 1 when the output fails', async () => {
    await using server = await startFakeAllocator({ list: () => ({ position }) });
    const environment = { IPLEDGER_ENDPOINT: server.endpoint };
    const empty = '{ "$0" allocations -o json; echo "status $?" >&2; } | true';
    expect((await startProgram(['-c', empty, ipledgerPath], environment, '/bin/sh')).stderr).to.equal('status 4\n');
    const full = await startProgram(
      ['-c', '"$0" allocations -o json > /dev/full', ipledgerPath],
      environment,
      '/bin/sh',
    );
    expect(full.status).to.equal(1);
    expect(full.stderr).to.match(/^ipledger: cannot write the answer: ENOSPC.*\n$/);
  });

  it('The ipledger program runs through links, with the Node of its own folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ipledger-cli-'));
    try {
      await symlink(ipledgerPath, join(folder, 'first'));
      await symlink('first', join(folder, 'second'));
      const result = await startProgram(['--version'], { PATH: '/usr/bin:/bin' }, join(folder, 'second'));
      expect(result.status).to.equal(0);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
