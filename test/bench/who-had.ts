/** `ipledger who-had`, asked of a running allocator, beside reading the same keys at once. */
import { openAllocator } from '../../cli/allocator.ts';
import { lookUp } from '../../cli/who-had/look-up.ts';
import { connect } from '../../lib/rpc.ts';
import { addressesOf } from '../../services/allocator/domain/event.ts';
import { parseEvent } from '../../services/allocator/ledger/chain.ts';
import { type Figure, timed } from './figure.ts';
import { type Asked, bareMs, measureQuestions, questionsARound, seqsOf } from './questions.ts';
import type { Stage } from './stage.ts';

interface Question {
  readonly address: string;
  readonly subnet: string;
  readonly instant: string;
  /** The events of the address: what has to be read, whoever reads. */
  readonly seqs: readonly number[];
}

/** p50 and p99 of questions about addresses and times that are spread over the whole log. */
export async function measureWhoHad(stage: Stage, rounds: number): Promise<Figure[]> {
  const { allocator, run } = stage;
  using cli = openAllocator(allocator.endpoint, run.signal);
  return await measureQuestions('who-had', rounds, async (round) => {
    const asked: Asked[] = [];
    for (const { address, subnet, instant, seqs } of await choose(stage, round)) {
      const floor = await bareMs(stage, seqs);
      const { ms: ours } = await timed(() => lookUp(cli, { address, subnet, instant }));
      asked.push({ ours, floor });
    }
    return asked;
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
      const seqs = await seqsOf(connection, { address, subnet });
      questions.push({ address, subnet, instant: parseEvent(another.text).envelope.at, seqs });
    }
  } finally {
    connection.close();
  }
  return questions;
}
