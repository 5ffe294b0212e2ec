/** Measures the size in etcd after compaction and defragmentation. */
import { addressPrefix, logPrefix } from '../../../../ledger/log/store/keys.ts';
import { readEtcdStatus } from '../../../harness/etcd.ts';
import { type Measurement, createMeasurement } from '../../measurement.ts';
import { type HistoryInEtcd, readAndParse } from './history-environment.ts';

/** Measures bytes per event and per live allocation. The floor is the size of keys and values. */
export async function measureStorageSize(environment: HistoryInEtcd): Promise<Measurement[]> {
  const sizes = { all: 0, log: 0, held: 0 };
  let live = 0;
  await readAndParse(environment, 'all', ({ key, text }, value) => {
    const size = Buffer.byteLength(key) + Buffer.byteLength(text);
    sizes.all += size;
    if (key.startsWith(logPrefix)) sizes.log += size;
    else if (key.startsWith(addressPrefix) && isHeld(value)) {
      sizes.held += size;
      live++;
    }
  });
  const { dbSizeInUse } = await readEtcdStatus(environment.etcd);
  const perByte = dbSizeInUse / sizes.all;
  const of = (name: string, payload: number): Measurement => {
    const [ours, floor] = [[payload * perByte], [payload]];
    return createMeasurement({ name: `storage ${name}`, what: 'bytes in etcd', ours, floor, goal: { atMost: 2 } });
  };
  return [of('bytes per event', sizes.log / environment.events), of('bytes per live allocation', sizes.held / live)];
}

const isHeld = (claim: unknown): boolean => typeof claim === 'object' && claim !== null && 'holder' in claim;
