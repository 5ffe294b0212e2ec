import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { signCheckpoint } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { createLedger, logOf, macvlan, startWriter, submitAll } from '../../ledger/log/testing/running-writer.ts';
import { MemoryLedger } from '../../ledger/log/testing/memory-ledger.ts';
import { startFakeAllocator } from '../testing/fake-allocator.ts';
import { type CliResult, runProgram } from '../testing/run-cli.ts';

describe('ipledger verify, with checkpoints', () => {
  const { signer, verifier } = generateKey('audit.example/ledger');
  let folder: string;
  let note: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-verify-'));
    const memory = new MemoryLedger();
    const writing = await startWriter(memory);
    await submitAll(writing.writer, createLedger(), macvlan);
    note = signCheckpoint(writing.replica.head, parseSignerKey(signer));
    write('export', (await logOf(memory)).map(({ text }) => `${text}\n`).join(''));
    write('empty', '');
    write('blank', '\n \r\n\n');
    write('honest', note);
    await writing.stop();
  });
  after(() => rmSync(folder, { recursive: true }));

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const verify = (...checkpoints: string[]): Promise<CliResult> =>
    runProgram([
      'verify',
      '--export',
      join(folder, 'export'),
      ...checkpoints.flatMap((name) => ['--checkpoint', join(folder, name)]),
      '--verifier-key',
      verifier,
    ]);

  it('ipledger verify, with checkpoints names the number of compared checkpoints, and the last event that they prove', async () => {
    const { status, stdout, stderr } = await verify('honest');
    expect([status, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^2 events, 1 checkpoint up to event 2 verified, up to [0-9a-f]{64}: no findings$/m);
  });

  for (const files of [['empty'], ['blank'], ['honest', 'empty']])
    it(`ipledger verify, with checkpoints reports a file without a checkpoint, because another program may have emptied it: ${files.join(', ')}`, async () => {
      const { status, stdout } = await verify(...files);
      expect(status).to.equal(1);
      expect(stdout).to.match(/\/(?:empty|blank) +it contains no checkpoint/);
      expect(stdout).to.match(/: 1 finding$/m);
    });

  it('ipledger verify, with checkpoints reports a file without a checkpoint when an allocator verifies', async () => {
    const verified = { position: { epoch: 1, seq: 2, hash: 'ab' }, done: true, comparedKeys: 3, findings: [] };
    await using server = await startFakeAllocator({ verify: () => [verified] });
    const { status, stdout } = await runProgram(
      ['verify', '--checkpoint', join(folder, 'empty'), '--verifier-key', verifier],
      { IPLEDGER_ENDPOINT: server.endpoint },
    );
    expect(status).to.equal(1);
    expect(stdout).to.match(/it contains no checkpoint/);
  });

  it('ipledger verify, with checkpoints states how far ledger time is from the clock here', async () => {
    const verified = { position: { epoch: 1, seq: 2, hash: 'ab' }, done: true, comparedKeys: 3, findings: [] };
    const ledgerTime = new Date(Date.now() + 7_200_000).toISOString();
    await using server = await startFakeAllocator({ verify: () => [verified], getStatus: () => ({ ledgerTime }) });
    const { status, stderr } = await runProgram(['verify'], { IPLEDGER_ENDPOINT: server.endpoint });
    expect(status).to.equal(0);
    expect(stderr).to.contain('ledger time is 2 h ahead of the clock here: see the runbook IpledgerLedgerTimeAhead\n');
  });

  it('ipledger verify, with checkpoints fails for a trusted key that is not used: no checkpoint is named', async () => {
    const { status, stderr } = await verify();
    expect(status).to.equal(2);
    expect(stderr).to.match(/--verifier-key.*--checkpoint/);
  });

  it('ipledger verify, with checkpoints names the file of a key that has no key', async () => {
    const args = ['--checkpoint', join(folder, 'honest'), '--verifier-key', join(folder, 'empty')];
    const { status, stderr } = await runProgram(['verify', '--export', join(folder, 'export'), ...args]);
    expect(status).to.equal(2);
    expect(stderr).to.match(/\/empty: this is not an Ed25519 verifier key/);
  });
});
