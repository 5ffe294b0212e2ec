import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { ArchivedLedger } from '../../archive/archived-ledger.ts';
import { FolderArchive } from '../../archive/folder-archive.ts';
import { ledgerWithPast, type SealedLedger, sealingContextOf } from '../../archive/testing/sealed-ledger.ts';
import { sealOldestEvents } from '../../archive/seal.ts';
import { logStartKey, logKey, logPrefix, segmentKey } from '../../log/store/keys.ts';
import type { KeyPage, KeyReader } from '../../log/store/ledger.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import { replay } from '../../log/reader/replay.ts';
import { batchOf, failureOf, never, startWriter } from '../../log/testing/running-writer.ts';
import { verifyLedger } from './verify-ledger.ts';

describe('Verification of a sealed ledger', () => {
  let past: SealedLedger;
  beforeEach(async () => {
    past = await ledgerWithPast(10);
    for (const to of [20, 40]) await sealOldestEvents(past.sealing, to, never);
    await past.working.stop();
  });
  afterEach(() => rmSync(past.folder, { recursive: true }));

  const verify = () => verifyLedger(past.ledger, { signal: never });

  it('Verification of a sealed ledger reads from the first event to the last, across the segments', async () => {
    const { head, findings } = await verify();
    expect(findings).to.deep.equal([]);
    expect(head).to.deep.equal(await past.memory.head(never));
  });

  it('Verification of a sealed ledger compares segment keys and log start with the log', async () => {
    const { memory } = past;
    const [floor, segment] = [memory.get(logStartKey) ?? '', memory.get(segmentKey(1)) ?? ''];
    memory.put(logStartKey, floor.replace(/\d+/, '7'));
    expect((await verify()).findings).to.deep.equal([
      { key: logStartKey, what: `seq is 7, but according to the log ${/\d+/.exec(floor)?.[0]}`, expected: floor },
    ]);
    memory.remove(logStartKey);
    expect((await verify()).findings).to.deep.equal([{ key: logStartKey, what: 'it is missing', expected: floor }]);
    memory.put(logStartKey, floor);
    memory.put(segmentKey(3), segment.replace('"from":1,', '"from":3,'));
    expect((await verify()).findings.map(({ key }) => key)).to.deep.equal([segmentKey(3)]);
  });

  it('Verification of a sealed ledger reports changes in the archive', async () => {
    const folder = join(past.folder, (await past.memory.head(never)).ledger);
    const [name = ''] = readdirSync(folder).filter((each) => each.includes('.events.'));
    writeFileSync(join(folder, name), 'else');
    const { findings, comparedKeys } = await verify();
    expect(findings).to.have.length(1);
    expect(findings[0]?.what).to.contain(name);
    expect(comparedKeys).to.equal(undefined);
  });

  it('Verification of a sealed ledger reports no finding when the archive is not available, as on an unmounted share', async () => {
    const elsewhere = new FolderArchive(join(past.folder, 'elsewhere'));
    const { code, message } = await failureOf(
      verifyLedger(new ArchivedLedger(past.memory, elsewhere), { signal: never }),
    );
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(/^the archive: .*\/elsewhere\/.* could not be read: ENOENT/);
  });

  it('Verification of a sealed ledger reports a wrong sealed event without requesting an archive that it already reads', async () => {
    const { memory, ledger, archive } = past;
    const data = { address: '172.17.0.99', reason: '' };
    const before = await memory.head(never);
    await memory.append(batchOf(before, [{ type: 'QuarantineLifted', subnet: 'macvlan', data }]));
    const forged = before.seq + 1;
    const working = await startWriter(ledger);
    await sealOldestEvents(sealingContextOf({ working, ledger, archive }), forged, never);
    await working.stop();
    const { findings } = await verify();
    expect(findings.map(({ key }) => key)).to.deep.equal([logKey(forged)]);
  });

  it('Verification of a sealed ledger reports that all events after the sealed ones are missing', async () => {
    const { memory } = past;
    for (const key of Object.keys(memory.everything())) if (key.startsWith(logPrefix)) memory.remove(key);
    const { head, findings } = await verify();
    expect(head.seq).to.equal(0);
    expect(findings.map(({ what }) => what)).to.deep.equal([
      'event 1 is missing: the log ends here, but the head has 65 events',
    ]);
  });

  it('verification of a sealed ledger requires the archive', async () => {
    const { code, message } = await failureOf(verifyLedger(past.memory, { signal: never }));
    expect(code).to.equal('POSITION_GONE');
    expect(message).to.match(/^event 1 is sealed, in folder .*: give the archive by --archive/);
  });

  it('Verification of a sealed ledger reports a missing segment key', async () => {
    past.memory.remove(segmentKey(1));
    const { findings } = await verifyLedger(new ArchivedLedger(past.memory, past.archive), { signal: never });
    expect(findings).to.deep.equal([{ key: logKey(1), what: 'event 1 is missing: the next event is 41' }]);
  });

  it('Verification of a sealed ledger reports no finding when the log is sealed during a verification without archive', async () => {
    const open = await ledgerWithPast(10);
    let reads = 0;
    async function* keys(...[range, signal, revision]: Parameters<KeyReader['keys']>): AsyncIterable<KeyPage> {
      for await (const page of open.memory.keys(range, signal, revision)) {
        // etcd compacts the revision that is being read, after more events were sealed.
        if (++reads === 2) {
          await sealOldestEvents(open.sealing, 60, never);
          throw new IpledgerError('UNAVAILABLE', 'etcd could not be read: the revision has been compacted');
        }
        yield page;
      }
    }
    const { code, message } = await failureOf(verifyLedger({ keys }, { signal: never }));
    await open.working.stop();
    rmSync(open.folder, { recursive: true });
    expect(code).to.equal('POSITION_GONE');
    expect(message).to.match(/^event 51 is sealed, in folder .*: give the archive by --archive/);
  });

  it('Verification of a sealed ledger reports no finding in a replay of the ledger', async () => {
    const again = new MemoryLedger();
    async function* lines(): AsyncIterable<string> {
      for await (const page of past.ledger.read(1, never)) for (const { text } of page) yield text;
    }
    await replay(again, lines(), { signal: never });
    expect((await verifyLedger(again, { signal: never })).findings).to.deep.equal([]);
    for (const key of [logStartKey, segmentKey(1)]) expect(again.get(key)).to.equal(past.memory.get(key));
  });
});
