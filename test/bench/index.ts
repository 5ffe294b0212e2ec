/** The read model: how fast it takes the log in, how large its file is, and how soon it answers who was on a node in a stretch of time. */
import { statSync } from 'node:fs';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import { type HistoryRequest, LedgerService } from '../../proto/ipledger.ts';
import { parseEvent } from '../../services/allocator/ledger/chain.ts';
import { startIndex } from '../harness/services.ts';
import { type Figure, figure, quantile, timed } from './figure.ts';
import { readAndParse, type Stage } from './stage.ts';

const questionsARound = 200;
/** Of how many events one stretch of time is: of them a node or an owner has a few. */
const stretchEvents = 5_000;
const timeoutMs = 60_000;

/** Builds it from nothing, and asks it. */
export async function measureIndex(stage: Stage, rounds: number): Promise<Figure[]> {
  let payload = 0;
  const least = await timed(() => readAndParse(stage, 'log', ({ text }) => (payload += Buffer.byteLength(text))));
  const { ms, result: index } = await timed(() => startIndex(stage.run, { allocator: stage.allocator }));
  const perSecond = [[stage.events / (ms / 1_000)], [stage.events / (least.ms / 1_000)]] as const;
  const perEvent = [[statSync(index.file).size / stage.events], [payload / stage.events]] as const;
  const connection = connect(index.endpoint, undefined);
  try {
    return [
      compare('index', 'events taken in a second', perSecond, { better: 'more', mostRatio: 20 }),
      compare('index bytes per event', 'bytes in its file', perEvent, { better: 'less', mostRatio: 2 }),
      ...(await measureQuestions(stage, connection, rounds)),
    ];
  } finally {
    connection.close();
    await index.stop();
  }
}

function compare(
  name: string,
  what: string,
  [ours, floor]: readonly [readonly number[], readonly number[]],
  goal: { readonly better: 'more' | 'less'; readonly mostRatio: number },
): Figure {
  return figure({ name, what, ours, floor, ...goal });
}

/** What a node and an owner had in stretches of time that are spread over the whole log. */
async function measureQuestions(stage: Stage, connection: Connection, rounds: number): Promise<Figure[]> {
  const [ours, floor]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [mine, least]: [number[], number[]] = [[], []];
    for (const request of await choose(stage, round)) {
      const { ms, result: seqs } = await timed(() => ask(connection, request));
      mine.push(ms);
      least.push((await timed(() => readThem(stage, seqs))).ms);
    }
    ours.push(mine);
    floor.push(least);
  }
  return [0.5, 0.99].map((part) => {
    const of = (values: readonly number[][]): number[] => values.map((each) => quantile(each, part));
    return compare(`history of a node p${part * 100}`, 'milliseconds', [of(ours), of(floor)], {
      better: 'less',
      mostRatio: 20,
    });
  });
}

/** Nodes in turn, each in another stretch. */
async function choose({ ledger, events, run }: Stage, round: number): Promise<Input<HistoryRequest>[]> {
  const step = Math.floor((events - stretchEvents) / questionsARound);
  const requests: Input<HistoryRequest>[] = [];
  for (let asked = 0; asked < questionsARound; asked++) {
    const first = 1 + round + asked * step;
    const [since, until] = await ledger.readEach([first, first + stretchEvents - 1], run.signal);
    if (!since || !until) throw new Error(`event ${first} or one ${stretchEvents} behind it is not there`);
    requests.push({ node: `node-${asked % 50}`, since: atOf(since.text), until: atOf(until.text) });
  }
  return requests;
}

const atOf = (text: string): string => parseEvent(text).envelope.at;

/** All of it, page after page; gives which events it is. */
async function ask(connection: Connection, request: Input<HistoryRequest>): Promise<number[]> {
  const seqs: number[] = [];
  for (let pageToken = '', more = true; more; more = pageToken !== '') {
    const asked = { ...request, pageSize: 1_000, pageToken };
    const page = await call(connection, LedgerService.history, asked, { timeoutMs });
    seqs.push(...page.events.map(({ seq }) => seq));
    pageToken = page.nextPageToken;
  }
  return seqs;
}

async function readThem({ ledger, run }: Stage, seqs: readonly number[]): Promise<void> {
  for (const line of await ledger.readEach(seqs, run.signal)) JSON.parse(line?.text ?? 'null');
}
