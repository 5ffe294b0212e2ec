/** The read model: how fast it takes the log in, how large its file is, and how soon it answers who was on a node in a stretch of time. */
import { statSync } from 'node:fs';
import { connect } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import type { HistoryRequest } from '../../proto/ipledger.ts';
import { parseEvent } from '../../services/allocator/ledger/chain.ts';
import { startIndex } from '../harness/services.ts';
import { eventsASecond, type Figure, figure, timed } from './figure.ts';
import { type Asked, bareMs, measureQuestions, questionsARound, seqsOf } from './questions.ts';
import { readAndParse, type Stage } from './stage.ts';

/** Of how many events one stretch of time is: of them a node has a few. */
const stretchEvents = 5_000;

/** Builds it from nothing, and asks it. */
export async function measureIndex(stage: Stage, rounds: number): Promise<Figure[]> {
  const { events } = stage;
  let payload = 0;
  const least = await timed(() => readAndParse(stage, 'log', ({ text }) => (payload += Buffer.byteLength(text))));
  const { ms, result: index } = await timed(() => startIndex(stage.run, { allocator: stage.allocator }));
  const speed = { ours: [eventsASecond(events, ms)], floor: [eventsASecond(events, least.ms)] };
  const size = { ours: [statSync(index.file).size / events], floor: [payload / events] };
  const connection = connect(index.endpoint, undefined);
  const round = async (number: number): Promise<readonly Asked[]> => {
    const asked: Asked[] = [];
    for (const request of await choose(stage, number)) {
      const { ms: ours, result: seqs } = await timed(() => seqsOf(connection, request));
      asked.push({ ours, floor: await bareMs(stage, seqs) });
    }
    return asked;
  };
  try {
    return [
      figure({ name: 'index', what: 'events taken in a second', ...speed, better: 'more', mostRatio: 20 }),
      figure({ name: 'index bytes per event', what: 'bytes in its file', ...size, better: 'less', mostRatio: 2 }),
      ...(await measureQuestions('history of a node', rounds, round)),
    ];
  } finally {
    connection.close();
    await index.stop();
  }
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
