/** What goes through the whole log: verification, and a replay into another etcd. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { linesOf } from '../../cli/record/lines.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { exportLines } from '../../services/allocator/ledger/export.ts';
import { replay } from '../../services/allocator/ledger/replay.ts';
import { verifyKeys } from '../../services/allocator/verify/verify.ts';
import { startEtcd } from '../harness/etcd.ts';
import { eventsASecond, type Figure, figure, timed } from './figure.ts';
import { readAndParse, type Stage } from './stage.ts';

/** `ipledger verify`, beside reading the same keys. */
export async function measureVerify(stage: Stage, rounds: number): Promise<Figure> {
  const [ours, floor]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const least = await timed(() => readAndParse(stage, 'all'));
    const { ms, result } = await timed(() => verifyKeys(stage.ledger, { signal: stage.run.signal }));
    const [finding] = result.findings;
    if (finding) throw new Error(`the ledger of the bench is not as it should be: ${finding.key}: ${finding.what}`);
    ours.push(eventsASecond(stage.events, ms));
    floor.push(eventsASecond(stage.events, least.ms));
  }
  return figure({ name: 'verify', what: 'events verified a second', ours, floor, better: 'more', mostRatio: 5 });
}

/** `ipledger replay` of an export, beside reading the same keys. */
export async function measureReplay(stage: Stage): Promise<Figure> {
  const { run, events } = stage;
  const file = join(run.folder, 'export.ndjson');
  await pipeline(Readable.from(exported(stage)), createWriteStream(file));
  const least = await timed(() => readAndParse(stage, 'log'));
  const etcd = await startEtcd(run, { name: 'etcd-replay', quotaBytes: 32 * 2 ** 30 });
  const client = connectEtcd([etcd.endpoint]);
  try {
    const { ms } = await timed(() => replay(new EtcdLedger(client), linesOf(file), { signal: run.signal }));
    const [ours, floor] = [[eventsASecond(events, ms)], [eventsASecond(events, least.ms)]];
    return figure({ name: 'replay', what: 'events replayed a second', ours, floor, better: 'more', mostRatio: 20 });
  } finally {
    client.close();
    await etcd.kill();
  }
}

async function* exported({ ledger, run }: Stage): AsyncGenerator<string> {
  for await (const { lines } of exportLines(ledger, {}, run.signal)) yield lines.map((line) => `${line}\n`).join('');
}
