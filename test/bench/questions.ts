/** Questions that are asked one by one, each beside a read of the same events at once. */
import { everyPage } from '../../cli/pages.ts';
import { call, type Connection } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import { type HistoryRequest, LedgerService } from '../../proto/ipledger.ts';
import { type Figure, figure, quantile, timed } from './figure.ts';
import type { Stage } from './stage.ts';

export const questionsARound = 200;
const timeoutMs = 60_000;

/** One question: how long it took, and how long the bare read of its events, in milliseconds. */
export interface Asked {
  readonly ours: number;
  readonly floor: number;
}

/** What is asked in one round. */
export type Round = (round: number) => Promise<readonly Asked[]>;

/** The median and the 99th percentile of each round. */
export async function measureQuestions(name: string, rounds: number, ask: Round): Promise<Figure[]> {
  const asked: (readonly Asked[])[] = [];
  for (let round = 0; round < rounds; round++) asked.push(await ask(round));
  return [0.5, 0.99].map((part) => {
    const of = (which: keyof Asked): number[] =>
      asked.map((each) =>
        quantile(
          each.map((one) => one[which]),
          part,
        ),
      );
    const [ours, floor] = [of('ours'), of('floor')];
    return figure({ name: `${name} p${part * 100}`, what: 'milliseconds', ours, floor, better: 'less', mostRatio: 20 });
  });
}

/** A history to its end, page after page; gives the numbers of its events. */
export async function seqsOf(connection: Connection, request: Input<HistoryRequest>): Promise<number[]> {
  const read = (pageToken: string) =>
    call(connection, LedgerService.history, { ...request, pageSize: 1_000, pageToken }, { timeoutMs });
  const seqs: number[] = [];
  for await (const { events } of everyPage(read)) seqs.push(...events.map(({ seq }) => seq));
  return seqs;
}

/** The floor: how long it takes, in milliseconds, to read these events at once and parse them. */
export async function bareMs({ ledger, run }: Stage, seqs: readonly number[]): Promise<number> {
  const { ms } = await timed(async () => {
    for (const line of await ledger.readEach(seqs, run.signal)) JSON.parse(line?.text ?? 'null');
  });
  return ms;
}
