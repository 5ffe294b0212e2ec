/** Latency of single queries, each beside one read of the same events. */
import { readPages } from '../../../../lib/ledger-client/pages.ts';
import { call, type Connection } from '../../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type Event, type HistoryRequest, LedgerService } from '../../../../proto/generated/ipledger.ts';
import { type Measurement, createMeasurement, quantile, measureTime } from '../../measurement.ts';
import type { HistoryEnvironment } from './history-environment.ts';

const timeoutMs = 60_000;

export interface QueryCounts {
  readonly rounds: number;
  /** The number of queries in a round. */
  readonly queries: number;
}

/** The durations of a query and of the plain read of its events, in milliseconds. */
export interface QueryTiming {
  readonly ours: number;
  readonly floor: number;
}

/** Sends the queries of one round. */
export type QueryRound = (round: number) => Promise<readonly QueryTiming[]>;

/** Measures the median and the 99th percentile of each round. */
export async function measureQueries(
  { name, goal }: Pick<Measurement, 'name' | 'goal'>,
  rounds: number,
  runRound: QueryRound,
): Promise<Measurement[]> {
  const timings: (readonly QueryTiming[])[] = [];
  for (let round = 0; round < rounds; round++) timings.push(await runRound(round));
  return [0.5, 0.99].map((part) => {
    const of = (which: keyof QueryTiming): number[] =>
      timings.map((each) =>
        quantile(
          each.map((one) => one[which]),
          part,
        ),
      );
    const [ours, floor] = [of('ours'), of('floor')];
    return createMeasurement({
      name: `${name} p${part * 100}`,
      what: 'milliseconds',
      ours,
      floor,
      goal,
    });
  });
}

/** Reads a history page by page, newest first. */
export async function readHistoryEvents(
  connection: Connection,
  request: MessageInput<HistoryRequest>,
): Promise<Event[]> {
  const read = (pageToken: string) =>
    call(connection, LedgerService.history, { ...request, pageSize: 1_000, pageToken }, { timeoutMs });
  const found: Event[] = [];
  for await (const { events } of readPages(read)) found.push(...events);
  return found;
}

/**
 * Measures the floor: milliseconds to read these events in one request, and parse them.
 * @throws Error when an event is missing
 */
export async function measureBaselineMs(
  { plainReader, run }: HistoryEnvironment,
  seqs: readonly number[],
): Promise<number> {
  const { ms } = await measureTime(async () => {
    for (const text of await plainReader.readEach(seqs, run.signal)) JSON.parse(text ?? '');
  });
  return ms;
}
