/**
 * Applies each tamper case to a ledger in a real etcd, as is and recomputed, with and without a
 * checkpoint. The result is the table in docs/audit.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import fc from 'fast-check';
import { startLedgerThread, type ThreadedReader } from '../../cli/clients/ledger-thread.ts';
import { parseCheckpoints, signCheckpoint } from '../../ledger/audit/checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import { never } from '../../ledger/log/testing/running-writer.ts';
import { CheckpointVerifier } from '../../ledger/audit/verification/checkpoint-verifier.ts';
import type { Finding } from '../../ledger/audit/verification/finding.ts';
import { verifyLedger } from '../../ledger/audit/verification/verify-ledger.ts';
import { startEtcd } from '../harness/etcd.ts';
import { root } from '../harness/paths.ts';
import { openRun, type Run } from '../harness/run.ts';
import { tamperCases } from './tamper-cases.ts';
import { type LedgerKeys, readLedgerKeys, writeLedgerKeys } from './ledger-keys.ts';
import { writeExampleLedger } from './example-ledger.ts';
import { parseEvents, rebuildLedger } from './rebuild-ledger.ts';

const signer = parseSignerKey(generateKey('audit.example/ledger').signer);

type EditKind = 'character' | 'cut' | 'delete' | 'swap';

/** Changes a value: to another character, a shorter text, no key, or the value of the next key. */
function editKey(keys: Map<string, string>, which: number, position: number, kind: EditKind): void {
  const names = [...keys.keys()];
  const [name = '', next = ''] = [names[which % names.length], names[(which + 1) % names.length]];
  const [text, other] = [keys.get(name) ?? '', keys.get(next) ?? ''];
  const at = position % Math.max(1, text.length);
  if (kind === 'delete') keys.delete(name);
  else if (kind === 'cut') keys.set(name, text.slice(0, at));
  else if (kind === 'swap') keys.set(name, other).set(next, text);
  else keys.set(name, `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`);
}

describe('Verification of a tampered ledger', function () {
  this.timeout(120_000);
  let run: Run;
  let client: Etcd3;
  let ledger: EtcdLedger;
  let thread: ThreadedReader;
  let honest: LedgerKeys;
  let present: LedgerKeys;
  let checkpoint: string;
  before(async () => {
    run = openRun();
    const { endpoint } = await startEtcd(run);
    client = connectEtcd([endpoint]);
    thread = startLedgerThread(endpoint);
    ledger = new EtcdLedger(client);
    await writeExampleLedger(ledger, async () => {
      checkpoint = signCheckpoint(await ledger.head(never), signer);
    });
    honest = present = await readLedgerKeys(ledger);
  });
  after(async () => {
    thread?.[Symbol.dispose]();
    client?.close();
    await run.end();
  });

  const checkpointVerifier = (): CheckpointVerifier =>
    new CheckpointVerifier(parseCheckpoints(checkpoint), [signer.verifier]);

  /** The findings, which are the same with one and with two threads. */
  async function findingsIn(keys: LedgerKeys, withCheckpoint = false): Promise<readonly Finding[]> {
    await writeLedgerKeys(client, keys, present);
    present = keys;
    const options = { signal: never, ...(withCheckpoint && { checkpointVerifier: checkpointVerifier() }) };
    const result = await verifyLedger(ledger, options);
    const another = { signal: never, ...(withCheckpoint && { checkpointVerifier: checkpointVerifier() }) };
    expect(await verifyLedger(thread.reader, another), 'with two threads').to.deep.equal(result);
    return result.findings;
  }

  it('Verification of a tampered ledger finds nothing in the original ledger', async () => {
    expect(parseEvents(honest)).to.have.length(12);
    expect(await findingsIn(honest)).to.deep.equal([]);
    expect(await findingsIn(honest, true)).to.deep.equal([]);
  });

  const rows: string[] = [];
  for (const tamperCase of tamperCases)
    it(`Verification of a tampered ledger finds what docs/audit.md states for: ${tamperCase.name}`, async () => {
      const edited = new Map(honest);
      tamperCase.editKeys(edited);
      const recomputed = rebuildLedger(honest, tamperCase.rewriteEvents(parseEvents(honest)));
      const cells = [
        await findingsIn(edited),
        await findingsIn(edited, true),
        await findingsIn(recomputed),
        await findingsIn(recomputed, true),
      ].map((findings) => (findings.length > 0 ? 'found' : '–'));
      rows.push(`| ${tamperCase.name} | ${cells.join(' | ')} |`);
    });

  it('Verification of a tampered ledger matches the table in docs/audit.md', () => {
    const page = readFileSync(join(root, 'docs/audit.md'), 'utf8');
    const table = /<!-- tampering -->\n(.*?)\n<!-- \/tampering -->/s.exec(page)?.[1] ?? '';
    expect(table.split('\n').slice(2)).to.deep.equal(rows);
  });

  it('Verification of a tampered ledger has the same findings with one and with two threads, for random edits', async () => {
    const edits = fc.array(
      fc.record({ key: fc.nat(), at: fc.nat(), kind: fc.constantFrom('character', 'cut', 'delete', 'swap') }),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const property = fc.asyncProperty(edits, fc.boolean(), async (list, withCheckpoint) => {
      const edited = new Map(honest);
      for (const { key, at, kind } of list) editKey(edited, key, at, kind);
      await findingsIn(edited, withCheckpoint);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  it('Verification of a tampered ledger finds nothing after the original keys are restored', async () => {
    expect(await findingsIn(honest, true)).to.deep.equal([]);
  });
});
