/**
 * Measures `ipledger who-had` with a running allocator and a read model, beside one read of the
 * events that the answer needs.
 */
import { isDeepStrictEqual } from 'node:util';
import { addressAtInstant, buildAddressPeriods } from '../../../../cli/allocation-periods/allocation-periods.ts';
import { isDecisive, isStartAfter } from '../../../../cli/allocation-periods/find-holder.ts';
import { findHolder } from '../../../../cli/allocation-periods/find-holder.ts';
import { openAllocatorClient, openReadModelClient } from '../../../../cli/clients/ledger-client.ts';
import { addressesOf } from '../../../../ledger/domain/events/registry.ts';
import { parseEvent } from '../../../../ledger/log/chain/chain.ts';
import { connect } from '../../../../lib/grpc/client.ts';
import type { Event } from '../../../../proto/generated/ipledger.ts';
import { createMeasurement, type Measurement, measureTime, quantile } from '../../measurement.ts';
import { type HistoryEnvironment, startIndexedReadModel } from './history-environment.ts';
import { measureBaselineMs, type QueryCounts, readHistoryEvents } from './query-latency.ts';

interface Query {
  readonly address: string;
  readonly subnet: string;
  readonly instant: string;
  /** All events of the address, newest first. */
  readonly events: readonly Event[];
}

/**
 * Measures p50 and p99 of queries for addresses and times across the complete log, and compares
 * each answer with the complete history.
 */
export async function measureWhoHad(
  environment: HistoryEnvironment,
  { rounds, queries }: QueryCounts,
): Promise<Measurement[]> {
  const { allocator, run } = environment;
  const { model } = await startIndexedReadModel(environment);
  using client = openAllocatorClient({ endpoint: allocator.endpoint }, run.signal);
  using readModel = openReadModelClient(model.endpoint, run.signal);
  const [ours, floor]: [number[][], number[][]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const [mine, reads]: [number[], number[]] = [[], []];
    const chosen = await chooseQueries(environment, { round, count: queries });
    for (const [index, { address, subnet, instant, events }] of chosen.entries()) {
      const read = async () => reads.push(await measureBaselineMs(environment, decisiveSeqs(instant, events)));
      if (index % 2 === 0) await read(); // in turns: the second read finds the events in the caches of etcd
      const { ms, result } = await measureTime(() =>
        findHolder({ allocator: client, readModel }, { address, subnet, instant }),
      );
      if (index % 2 === 1) await read();
      mine.push(ms);
      const expected = { subnet, historyStartsAt: '', ...addressAtInstant(instant, buildAddressPeriods(events)) };
      if (!isDeepStrictEqual(result.subnets, [expected]))
        throw new Error(`the holder of ${address} at ${instant} differs from its complete history`);
    }
    ours.push(mine);
    floor.push(reads);
  }
  const at = (part: number, of: readonly number[][]): number[] => of.map((each) => quantile(each, part));
  const what = 'milliseconds';
  return [
    createMeasurement({ name: 'who-had p50', what, ours: at(0.5, ours), floor: at(0.5, floor), goal: { atMost: 20 } }),
    createMeasurement({ name: 'who-had p99', what, ours: at(0.99, ours), goal: { atMost: 50 } }),
  ];
}

/** Returns the events from the second allocation after the instant down to the second before it. */
function decisiveSeqs(instant: string, events: readonly Event[]): number[] {
  const first = Math.max(
    0,
    events.findLastIndex((_, index) => isStartAfter(instant, events.slice(index, index + 64))),
  );
  const needed: Event[] = [];
  for (const event of events.slice(first)) {
    needed.push(event);
    if (isDecisive(instant, needed)) break;
  }
  return needed.map(({ seq }) => seq);
}

/** Takes the addresses of events at regular distances, each at the time of another event. */
async function chooseQueries(
  { allocator, ledger, events, run }: HistoryEnvironment,
  { round, count }: { readonly round: number; readonly count: number },
): Promise<Query[]> {
  const connection = connect(allocator.endpoint, undefined);
  const step = Math.floor(events / count);
  const queries: Query[] = [];
  try {
    for (let seq = 1 + round; seq <= events; seq += step) {
      const other = ((seq * 7_919) % events) + 1;
      const [line, another] = await ledger.readEach([seq, other], run.signal);
      if (!line || !another) throw new Error(`event ${seq} or ${other} is missing`);
      const { envelope, sequenced } = parseEvent(line.text);
      const [address] = addressesOf(sequenced);
      if (address === undefined) continue;
      const { subnet } = envelope;
      const found = await readHistoryEvents(connection, { address, subnet });
      queries.push({ address, subnet, instant: parseEvent(another.text).envelope.at, events: found });
    }
  } finally {
    connection.close();
  }
  return queries;
}
