/** Measures the size in etcd after compaction and defragmentation. */
import { addressPrefix, logPrefix } from '../../../../ledger/log/store/keys.ts';
import { readEtcdStatus } from '../../../harness/etcd.ts';
import { type Measurement, createMeasurement } from '../../measurement.ts';
import { type HistoryInEtcd, readAndParse } from './history-environment.ts';

/**
 * Measures bytes per event and per live allocation. They have no floor: with the bytes of keys and
 * values as floor, a larger event had a better ratio.
 */
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
  const of = (name: string, payload: number, atMost: number): Measurement => {
    const what = `bytes in etcd, of ${Math.round(payload)} in keys and values`;
    return createMeasurement({ name: `storage ${name}`, what, ours: [payload * perByte], goal: { atMost } });
  };
  return [
    of('bytes per event', sizes.log / environment.events, 1_000),
    of('bytes per live allocation', sizes.held / live, 1_500),
  ];
}

const isHeld = (claim: unknown): boolean => typeof claim === 'object' && claim !== null && 'holder' in claim;
