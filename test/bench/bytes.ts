/** What stands in etcd, once old versions of keys are compacted away and the file is defragmented. */
import { addressPrefix, logPrefix } from '../../services/allocator/ledger/keys.ts';
import { type Figure, figure } from './figure.ts';
import { readAndParse, type Stage, statusOf } from './stage.ts';

/** Of each event, and of each address that somebody has. The floor is the bytes of the keys and values themselves. */
export async function measureBytes(stage: Stage): Promise<Figure[]> {
  const sizes = { all: 0, log: 0, held: 0 };
  let live = 0;
  await readAndParse(stage, 'all', ({ key, text }, value) => {
    const size = Buffer.byteLength(key) + Buffer.byteLength(text);
    sizes.all += size;
    if (key.startsWith(logPrefix)) sizes.log += size;
    else if (key.startsWith(addressPrefix) && isHeld(value)) {
      sizes.held += size;
      live++;
    }
  });
  const { dbSizeInUse } = await statusOf(stage.etcd);
  const perByte = dbSizeInUse / sizes.all;
  const of = (name: string, payload: number): Figure => {
    const [ours, floor] = [[payload * perByte], [payload]];
    return figure({ name, what: 'bytes in etcd', ours, floor, better: 'less', mostRatio: 2 });
  };
  return [of('bytes per event', sizes.log / stage.events), of('bytes per live allocation', sizes.held / live)];
}

const isHeld = (claim: unknown): boolean => typeof claim === 'object' && claim !== null && 'holder' in claim;
