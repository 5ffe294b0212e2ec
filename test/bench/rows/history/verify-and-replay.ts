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
import { type Measurement, createMeasurement, measureTime, perSecond } from '../../measurement.ts';
import { readAndParse, type HistoryEnvironment } from './history-environment.ts';

/**
 * Measures `ipledger verify`, with one thread beside a read of the same keys, and with two. Neither
 * may report a finding.
 */
export async function measureVerify(environment: HistoryEnvironment, rounds: number): Promise<Measurement[]> {
  using thread = startLedgerThread(environment.etcd.endpoint);
  const [ours, floor, threaded]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const parseAll = await measureTime(() => readAndParse(environment, 'all'));
    ours.push(microsecondsPerEvent(environment, await measureOneVerify(environment, environment.ledger)));
    floor.push(microsecondsPerEvent(environment, parseAll.ms));
    threaded.push(perSecond(environment.events, await measureOneVerify(environment, thread.reader)));
  }
  return [
    createMeasurement({ name: 'verify', what: 'µs to verify an event', ours, floor, goal: { atMost: 1.5 } }),
    createMeasurement({
      name: 'verify threads',
      what: 'events per second',
      ours: threaded,
      goal: { atLeast: 100_000 },
    }),
  ];
}

async function measureOneVerify({ run, events }: HistoryEnvironment, reader: KeyReader): Promise<number> {
  const { ms, result } = await measureTime(() => verifyLedger(reader, { signal: run.signal }));
  const [finding] = result.findings;
  if (finding) throw new Error(`verification of the bench ledger failed: ${finding.key}: ${finding.what}`);
  if (result.head.seq !== events) throw new Error(`${result.head.seq} of ${events} events were verified`);
  return ms;
}

/** Measures `ipledger replay` of an export, beside a read of the same keys. */
export async function measureReplay(environment: HistoryEnvironment): Promise<Measurement> {
  const { run } = environment;
  const file = join(run.folder, 'export.ndjson');
  await pipeline(Readable.from(exportText(environment)), createWriteStream(file));
  const parseAll = await measureTime(() => readAndParse(environment, 'log'));
  const etcd = await startEtcd(run, { name: 'etcd-replay', quotaBytes: 32 * 2 ** 30 });
  const client = connectEtcd([etcd.endpoint]);
  try {
    const { ms } = await measureTime(() =>
      replay(new EtcdLedger(client), readExportLines(file), { signal: run.signal }),
    );
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
