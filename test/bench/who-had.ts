/** `ipledger who-had`, asked of a running allocator, beside reading the same keys at once. */
import { openAllocator } from '../../cli/allocator.ts';
import { lookUp } from '../../cli/who-had/look-up.ts';
import { call, connect } from '../../lib/rpc.ts';
import { LedgerService } from '../../proto/ipledger.ts';
import { addressesOf } from '../../services/allocator/domain/event.ts';
import { parseEvent } from '../../services/allocator/ledger/chain.ts';
import { type Figure, figure, quantile, timed } from './figure.ts';
import type { Stage } from './stage.ts';

const questionsARound = 200;
const timeoutMs = 60_000;

interface Question {
  readonly address: string;
  readonly subnet: string;
  readonly instant: string;
  /** The events of the address: what has to be read, whoever reads. */
  readonly seqs: readonly number[];
}

/** p50 and p99 of questions about addresses and times that are spread over the whole log. */
export async function measureWhoHad(stage: Stage, rounds: number): Promise<Figure[]> {
  const { allocator, ledger, run } = stage;
  const [ours, floor]: [number[][], number[][]] = [[], []];
  using asked = openAllocator(allocator.endpoint, run.signal);
  for (let round = 0; round < rounds; round++) {
    const questions = await choose(stage, round);
    const [mine, least]: [number[], number[]] = [[], []];
    for (const { address, subnet, instant, seqs } of questions) {
      const bare = async (): Promise<void> => {
        for (const line of await ledger.readEach(seqs, run.signal)) JSON.parse(line?.text ?? 'null');
      };
      least.push((await timed(bare)).ms);
      mine.push((await timed(() => lookUp(asked, { address, subnet, instant }))).ms);
    }
    ours.push(mine);
    floor.push(least);
  }
  return [0.5, 0.99].map((part) => {
    const name = `who-had p${part * 100}`;
    const of = (values: readonly number[][]): number[] => values.map((each) => quantile(each, part));
    return figure({ name, what: 'milliseconds', ours: of(ours), floor: of(floor), better: 'less', mostRatio: 20 });
  });
}

/** Every so many events one: its address, at the time of another. */
async function choose({ allocator, ledger, events, run }: Stage, round: number): Promise<Question[]> {
  const connection = connect(allocator.endpoint, undefined);
  const step = Math.floor(events / questionsARound);
  const questions: Question[] = [];
  try {
    for (let seq = 1 + round; seq <= events; seq += step) {
      const other = ((seq * 7_919) % events) + 1;
      const [line, another] = await ledger.readEach([seq, other], run.signal);
      if (!line || !another) throw new Error(`event ${seq} or ${other} is not there`);
      const { envelope, sequenced } = parseEvent(line.text);
      const [address] = addressesOf(sequenced);
      if (address === undefined) continue;
      const { subnet } = envelope;
      const seqs: number[] = [];
      for (let pageToken = '', more = true; more; more = pageToken !== '') {
        const page = await call(
          connection,
          LedgerService.history,
          { address, subnet, pageSize: 1_000, pageToken },
          { timeoutMs },
        );
        seqs.push(...page.events.map((event) => event.seq));
        pageToken = page.nextPageToken;
      }
      questions.push({ address, subnet, instant: parseEvent(another.text).envelope.at, seqs });
    }
  } finally {
    connection.close();
  }
  return questions;
}
