/** Measures the operations on the complete log: verification, and a replay into another etcd. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startLedgerThread } from '../../../../cli/clients/ledger-thread.ts';
import { readExportLines } from '../../../../cli/export-file/read-lines.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import type { KeyReader } from '../../../../ledger/log/store/ledger.ts';
import { exportLines } from '../../../../ledger/log/reader/export.ts';
import { replay } from '../../../../ledger/log/reader/replay.ts';
import { verifyLedger } from '../../../../ledger/audit/verification/verify-ledger.ts';
import { startEtcd } from '../../../harness/etcd.ts';
import { type Measurement, alternate, createMeasurement, measureTime, perSecond } from '../../measurement.ts';
import { readAndParse, type HistoryEnvironment } from './history-environment.ts';

/**
 * Measures `ipledger verify`, with one thread beside a read of the same keys, and with two. Neither
 * may report a finding.
 */
export async function measureVerify(environment: HistoryEnvironment, rounds: number): Promise<Measurement[]> {
  using thread = startLedgerThread(environment.etcd.endpoint);
  const threaded: number[] = [];
  const alternated = await alternate(
    rounds,
    async () => microsecondsPerEvent(environment, await measureOneVerify(environment, environment.ledger)),
    async () => microsecondsPerEvent(environment, (await measureTime(() => readAndParse(environment, 'all'))).ms),
  );
  for (let round = 0; round < rounds; round++)
    threaded.push(perSecond(environment.events, await measureOneVerify(environment, thread.reader)));
  return [
    createMeasurement({ name: 'verify', what: 'µs to verify an event', ...alternated, goal: { atMost: 1.5 } }),
    createMeasurement({
      name: 'verify threads',
      what: 'events per second',
      ours: threaded,
      goal: { atLeast: 100_000 },
    }),
  ];
}

async function measureOneVerify(
  { run, events }: Pick<HistoryEnvironment, 'run' | 'events'>,
  reader: KeyReader,
): Promise<number> {
  const { ms, result } = await measureTime(() => verifyLedger(reader, { signal: run.signal }));
  const [finding] = result.findings;
  if (finding) throw new Error(`verification of the bench ledger failed: ${finding.key}: ${finding.what}`);
  if (result.head.seq !== events) throw new Error(`${result.head.seq} of ${events} events were verified`);
  return ms;
}

/**
 * Measures `ipledger replay` of an export, beside a read of the same keys.
 * @throws Error when the written ledger differs from the export
 */
export async function measureReplay(environment: HistoryEnvironment): Promise<Measurement> {
  const { run } = environment;
  const file = join(run.folder, 'export.ndjson');
  await pipeline(Readable.from(exportText(environment)), createWriteStream(file));
  const parseAll = await measureTime(() => readAndParse(environment, 'log'));
  const etcd = await startEtcd(run, { name: 'etcd-replay', quotaBytes: 32 * 2 ** 30 });
  const client = connectEtcd([etcd.endpoint]);
  try {
    const replayed = new EtcdLedger(client);
    const { ms } = await measureTime(() => replay(replayed, readExportLines(file), { signal: run.signal }));
    const { hash } = await replayed.head(run.signal);
    if (hash !== (await environment.ledger.head(run.signal)).hash) throw new Error('the replay has another head');
    await measureOneVerify(environment, replayed);
    const [ours, floor] = [[microsecondsPerEvent(environment, ms)], [microsecondsPerEvent(environment, parseAll.ms)]];
    return createMeasurement({
      name: 'replay',
      what: 'µs to replay an event',
      ours,
      floor,
      goal: { atMost: 4 },
    });
  } finally {
    client.close();
    await etcd.kill();
  }
}

async function* exportText({ ledger, run }: HistoryEnvironment): AsyncGenerator<string> {
  for await (const { lines } of exportLines(ledger, {}, run.signal)) yield lines.map((line) => `${line}\n`).join('');
}

const microsecondsPerEvent = ({ events }: HistoryEnvironment, ms: number): number => (ms * 1_000) / events;
