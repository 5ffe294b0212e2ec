import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Memory, MemoryKeeper, noMemory, readMemory } from './memory.ts';

const seen = (pods: string, doubts: Partial<Memory> = {}): Memory => ({ ...noMemory, pods, nodes: pods, ...doubts });

describe('what a watcher leaves for the next one', () => {
  it('can be read back', () => {
    const keeper = new MemoryKeeper(noMemory, 0);
    expect(readMemory(keeper.write(seen('7', { vanishedPods: 60, vanishedNodes: 6 })))).to.deep.equal(
      seen('7', { vanishedPods: 60, vanishedNodes: 6 }),
    );
  });

  it('holds up to where the ledger was seen', () => {
    const ledger = { epoch: 2, seq: 42, hash: 'abc' };
    const keeper = new MemoryKeeper(noMemory);
    expect(readMemory(keeper.write({ ...noMemory, ledger }))).to.deep.equal({ ...noMemory, ledger });
  });

  it('is nothing where nothing that we wrote is found', () => {
    for (const written of ['', 'null', '{', '[]', '"x"', '{"pods":7,"vanishedPods":-1}'])
      expect(readMemory(written), written).to.deep.equal(noMemory);
  });

  it('names a version only once what it stands for had time to be done', async () => {
    const keeper = new MemoryKeeper(seen('5'), 300);
    const written = (pods: string): string => readMemory(keeper.write(seen(pods))).pods;
    expect(written('7')).to.equal('5');
    await sleep(310);
    expect(written('9')).to.equal('7');
    expect(written('')).to.equal('7');
    await sleep(310);
    expect(written('')).to.equal('9');
  });

  it('names the first version of all as long as there is none that is better', () => {
    const keeper = new MemoryKeeper(noMemory);
    expect(readMemory(keeper.write(noMemory)).pods).to.equal('');
    expect(readMemory(keeper.write(seen('7'))).pods).to.equal('7');
    expect(readMemory(keeper.write(seen('9'))).pods).to.equal('7');
  });
});
