import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ledgerWithPast, type Past } from '../archive/specification.ts';
import { seal } from '../archive/seal.ts';
import { floorKey, segmentKey } from '../ledger/keys.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import { replay } from '../ledger/replay.ts';
import { failureOf, never } from '../ledger/specification.ts';
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
      { key: floorKey, what: `seq is 7, by the log it is ${/\d+/.exec(floor)?.[0]}` },
    ]);
    memory.remove(floorKey);
    expect((await verify()).findings).to.deep.equal([{ key: floorKey, what: 'it is missing' }]);
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

  it('needs the archive, and says so', async () => {
    const { code, message } = await failureOf(verifyKeys(past.memory, { signal: never }));
    expect(code).to.equal('POSITION_GONE');
    expect(message).to.match(/^the log begins in the archive, .*name it by --archive/);
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
