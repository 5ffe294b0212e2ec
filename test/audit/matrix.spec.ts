/**
 * The matrix of tampering: each crime against a ledger in a real etcd, as it is and mended, with and without a checkpoint that
 * was kept elsewhere. What it finds is the table in docs/audit.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { parseCheckpoints, signCheckpoint } from '../../services/allocator/checkpoint/checkpoint.ts';
import { generateKey, parseSignerKey } from '../../services/allocator/checkpoint/key.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { never } from '../../services/allocator/ledger/specification.ts';
import { Attested } from '../../services/allocator/verify/attested.ts';
import type { Finding } from '../../services/allocator/verify/finding.ts';
import { verifyKeys } from '../../services/allocator/verify/verify.ts';
import { startEtcd } from '../harness/etcd.ts';
import { root } from '../harness/paths.ts';
import { openRun, type Run } from '../harness/run.ts';
import { crimes } from './crimes.ts';
import { type Keys, keysOf, putKeys } from './store.ts';
import { tellStory } from './story.ts';
import { eventsOf, mended } from './tamper.ts';

const signer = parseSignerKey(generateKey('audit.example/ledger').signer);

describe('A ledger that somebody wrote to', function () {
  this.timeout(120_000);
  let run: Run;
  let client: Etcd3;
  let ledger: EtcdLedger;
  let honest: Keys;
  let present: Keys;
  let checkpoint: string;
  before(async () => {
    run = openRun();
    client = connectEtcd([(await startEtcd(run)).endpoint]);
    ledger = new EtcdLedger(client);
    await tellStory(ledger, async () => {
      checkpoint = signCheckpoint(await ledger.head(never), signer);
    });
    honest = present = await keysOf(ledger);
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  async function findingsIn(keys: Keys, attested?: Attested): Promise<readonly Finding[]> {
    await putKeys(client, keys, present);
    present = keys;
    return (await verifyKeys(ledger, { signal: never, ...(attested && { attested }) })).findings;
  }

  const kept = (): Attested => new Attested(parseCheckpoints(checkpoint), [signer.verifier]);

  it('is not accused before', async () => {
    expect(eventsOf(honest)).to.have.length(12);
    expect(await findingsIn(honest)).to.deep.equal([]);
    expect(await findingsIn(honest, kept())).to.deep.equal([]);
  });

  const rows: string[] = [];
  for (const crime of crimes)
    it(`is seen through as far as can be: ${crime.name}`, async () => {
      const naive = new Map(honest);
      crime.naive(naive);
      const thorough = mended(honest, crime.anew(eventsOf(honest)));
      const cells = [
        await findingsIn(naive),
        await findingsIn(naive, kept()),
        await findingsIn(thorough),
        await findingsIn(thorough, kept()),
      ].map((findings) => (findings.length > 0 ? 'found' : '–'));
      rows.push(`| ${crime.name} | ${cells.join(' | ')} |`);
    });

  it('is seen through as docs/audit.md has it', () => {
    const page = readFileSync(join(root, 'docs/audit.md'), 'utf8');
    const table = /<!-- tampering -->\n(.*?)\n<!-- \/tampering -->/s.exec(page)?.[1] ?? '';
    expect(table.split('\n').slice(2)).to.deep.equal(rows);
  });

  it('is whole again once what stood there stands there again', async () => {
    expect(await findingsIn(honest, kept())).to.deep.equal([]);
  });
});
