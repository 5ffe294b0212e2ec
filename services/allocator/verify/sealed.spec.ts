import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { ArchivedLedger } from '../archive/archived-ledger.ts';
import { FolderArchive } from '../archive/folder.ts';
import { ledgerWithPast, type Past, sealingBy } from '../archive/specification.ts';
import { seal } from '../archive/seal.ts';
import { floorKey, logKey, logPrefix, segmentKey } from '../ledger/keys.ts';
import type { KeyPage, KeyReader } from '../ledger/ledger.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import { replay } from '../ledger/replay.ts';
import { batchOf, failureOf, never, startWriter } from '../ledger/specification.ts';
import { verifyKeys } from './verify.ts';

describe('Verification of a ledger whose past is sealed', () => {
  let past: Past;
  beforeEach(async () => {
    past = await ledgerWithPast(10);
    for (const to of [20, 40]) await seal(past.sealing, to, never);
    await past.working.stop();
  });
  afterEach(() => rmSync(past.folder, { recursive: true }));

  const verify = () => verifyKeys(past.ledger, { signal: never });

  it('goes from the first event to the last, across the seams', async () => {
    const { head, findings } = await verify();
    expect(findings).to.deep.equal([]);
    expect(head).to.deep.equal(await past.memory.head(never));
  });

  it('holds the segments’ keys and the floor against the log', async () => {
    const { memory } = past;
    const [floor, segment] = [memory.get(floorKey) ?? '', memory.get(segmentKey(1)) ?? ''];
    memory.put(floorKey, floor.replace(/\d+/, '7'));
    expect((await verify()).findings).to.deep.equal([
      { key: floorKey, what: `seq is 7, by the log it is ${/\d+/.exec(floor)?.[0]}`, expected: floor },
    ]);
    memory.remove(floorKey);
    expect((await verify()).findings).to.deep.equal([{ key: floorKey, what: 'it is missing', expected: floor }]);
    memory.put(floorKey, floor);
    memory.put(segmentKey(3), segment.replace('"from":1,', '"from":3,'));
    expect((await verify()).findings.map(({ key }) => key)).to.deep.equal([segmentKey(3)]);
  });

  it('finds what was changed in the archive', async () => {
    const folder = join(past.folder, (await past.memory.head(never)).ledger);
    const [name = ''] = readdirSync(folder).filter((each) => each.includes('.events.'));
    writeFileSync(join(folder, name), 'else');
    const { findings, keys } = await verify();
    expect(findings).to.have.length(1);
    expect(findings[0]?.what).to.contain(name);
    expect(keys).to.equal(undefined);
  });

  it('accuses nobody where the archive is not at hand, as a folder that is not mounted', async () => {
    const elsewhere = new FolderArchive(join(past.folder, 'elsewhere'));
    const { code, message } = await failureOf(
      verifyKeys(new ArchivedLedger(past.memory, elsewhere), { signal: never }),
    );
    expect(code).to.equal('UNAVAILABLE');
    expect(message).to.match(/^the archive: .*\/elsewhere\/.* could not be read: ENOENT/);
  });

  it('finds what is wrong with an event that is sealed, and does not ask for the archive that it reads', async () => {
    const { memory, ledger, archive } = past;
    const data = { address: '172.17.0.99', reason: '' };
    const before = await memory.head(never);
    await memory.append(batchOf(before, [{ type: 'QuarantineLifted', subnet: 'macvlan', data }]));
    const forged = before.seq + 1;
    const working = await startWriter(ledger);
    await seal(sealingBy({ working, ledger, archive }), forged, never);
    await working.stop();
    const { findings } = await verify();
    expect(findings.map(({ key }) => key)).to.deep.equal([logKey(forged)]);
  });

  it('finds that nothing is left of what was not sealed', async () => {
    const { memory } = past;
    for (const key of Object.keys(memory.everything())) if (key.startsWith(logPrefix)) memory.remove(key);
    const { head, findings } = await verify();
    expect(head.seq).to.equal(0);
    expect(findings.map(({ what }) => what)).to.deep.equal([
      'event 1 is missing: the log ends here, and the head tells of 65 events',
    ]);
  });

  it('needs the archive, and says so', async () => {
    const { code, message } = await failureOf(verifyKeys(past.memory, { signal: never }));
    expect(code).to.equal('POSITION_GONE');
    expect(message).to.match(/^event 1 is sealed, in folder .*: name that by --archive/);
  });

  it('finds a segment’s key that is gone', async () => {
    past.memory.remove(segmentKey(1));
    const { findings } = await verifyKeys(new ArchivedLedger(past.memory, past.archive), { signal: never });
    expect(findings).to.deep.equal([{ key: logKey(1), what: 'event 1 is missing: the next one there is 41' }]);
  });

  it('accuses nobody where it is sealed while it is read without the archive', async () => {
    const open = await ledgerWithPast(10);
    let reads = 0;
    async function* keys(...[range, signal, revision]: Parameters<KeyReader['keys']>): AsyncIterable<KeyPage> {
      for await (const page of open.memory.keys(range, signal, revision)) {
        // etcd compacts what is being read, when more was sealed than has been read.
        if (++reads === 2) {
          await seal(open.sealing, 60, never);
          throw new IpledgerError('UNAVAILABLE', 'etcd could not be read: the revision has been compacted');
        }
        yield page;
      }
    }
    const { code, message } = await failureOf(verifyKeys({ keys }, { signal: never }));
    await open.working.stop();
    rmSync(open.folder, { recursive: true });
    expect(code).to.equal('POSITION_GONE');
    expect(message).to.match(/^event 51 is sealed, in folder .*: name that by --archive/);
  });

  it('finds nothing wrong with a replay of it either', async () => {
    const again = new MemoryLedger();
    async function* lines(): AsyncIterable<string> {
      for await (const page of past.ledger.read(1, never)) for (const { text } of page) yield text;
    }
    await replay(again, lines(), { signal: never });
    expect((await verifyKeys(again, { signal: never })).findings).to.deep.equal([]);
    for (const key of [floorKey, segmentKey(1)]) expect(again.get(key)).to.equal(past.memory.get(key));
  });
});
