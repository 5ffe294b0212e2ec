/**
 * Measures the read model: indexing speed, file size, and latency of the history of a node in a
 * range of time.
 */
import { statSync } from 'node:fs';
import { connect } from '../../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { HistoryRequest } from '../../../../proto/generated/ipledger.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { type Measurement, createMeasurement, measureTime } from '../../measurement.ts';
import {
  type QueryTiming,
  measureBaselineMs,
  measureQueries,
  type QueryCounts,
  readHistoryEvents,
} from './query-latency.ts';
import { readAndParse, type HistoryEnvironment, startIndexedReadModel } from './history-environment.ts';

/** Events in the time range of one query. A node has a few of them. */
const eventsPerRange = 5_000;

/** Builds a read model from an empty file and sends queries to it. */
export async function measureReadModel(
  environment: HistoryEnvironment,
  { rounds, queries }: QueryCounts,
): Promise<Measurement[]> {
  const { events } = environment;
  let payload = 0;
  const parseAll = await measureTime(() =>
    readAndParse(environment, 'log', ({ text }) => (payload += Buffer.byteLength(text))),
  );
  const { model, indexMs: ms } = await startIndexedReadModel(environment);
  const speed = { ours: [(ms * 1_000) / events], floor: [(parseAll.ms * 1_000) / events] };
  const connection = connect(model.endpoint, undefined);
  const round = async (number: number): Promise<readonly QueryTiming[]> => {
    const timings: QueryTiming[] = [];
    for (const request of await chooseRequests(environment, { round: number, count: queries })) {
      const { ms: ours, result } = await measureTime(() => readHistoryEvents(connection, request));
      const seqs = result.map(({ seq }) => seq);
      timings.push({ ours, floor: await measureBaselineMs(environment, seqs) });
    }
    return timings;
  };
  try {
    const latencies = await measureQueries({ name: 'index node-history', goal: { atMost: 20 } }, rounds, round);
    await model.stop(); // moves its last 32 MiB of changes into the file
    const size = { ours: [statSync(model.file).size / events], floor: [payload / events] };
    return [
      createMeasurement({ name: 'index', what: 'µs to index an event', ...speed, goal: { atMost: 4 } }),
      createMeasurement({ name: 'index bytes', what: 'bytes in its file', ...size, goal: { atMost: 2 } }),
      ...latencies,
    ];
  } finally {
    connection.close();
  }
}

/** Chooses a request for each range. The nodes alternate. */
async function chooseRequests(
  { ledger, events, run }: HistoryEnvironment,
  { round, count }: { readonly round: number; readonly count: number },
): Promise<MessageInput<HistoryRequest>[]> {
  const step = Math.floor((events - eventsPerRange) / count);
  const requests: MessageInput<HistoryRequest>[] = [];
  for (let index = 0; index < count; index++) {
    const first = 1 + round + index * step;
    const [since, until] = await ledger.readEach([first, first + eventsPerRange - 1], run.signal);
    if (!since || !until) throw new Error(`event ${first} or event ${first + eventsPerRange - 1} is missing`);
    requests.push({ node: `node-${index % 50}`, since: atOf(since.text), until: atOf(until.text) });
  }
  return requests;
}

const atOf = (text: string): string => parseEvent(text).envelope.at;
