import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { PendingRequest } from '../pending-request.ts';
import {
  type Answer,
  answerOf,
  countTurns,
  never,
  requestFor,
  type RunningWriter,
  startUnreliableWriter,
  startWriter,
} from '../testing/running-writer.ts';
import type { UnreliableLedger } from '../testing/unreliable-ledger.ts';

const now = performance.now.bind(performance);

describe('The writer during an append', () => {
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  let decided: Set<string>;
  let held: ReturnType<UnreliableLedger['holdAppend']> | undefined;
  beforeEach(async () => {
    ({ ledger, working } = await startUnreliableWriter());
    decided = new Set();
    held = undefined;
    performance.now = () => 0; // no turn is over, on any machine
  });
  afterEach(async () => {
    held?.open();
    performance.now = now;
    await working.stop();
  });

  /** Allocates, and notes when that is decided. */
  const noted = (pod: string): PendingRequest<Answer> => {
    const request = requestFor(allocate(pod), never);
    return { ...request, command: (...at) => (decided.add(pod), request.command?.(...at)) };
  };
  const submit = (pod: string) => working.writer.submit(noted(pod));
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 20; count++) await turn();
  };

  it('The writer during an append decides the requests that arrive, and those that its transaction had no room for', async () => {
    held = ledger.holdAppend();
    const pods = Array.from({ length: 70 }, (_, index) => `p${index}`);
    const answers = pods.map(submit);
    await turns();
    expect(ledger.tried.at(-1)?.events.length).to.be.below(70);
    expect([...decided]).to.deep.equal(pods);
    answers.push(submit('late'));
    await turns();
    expect([...decided]).to.deep.equal([...pods, 'late']);
    held.open();
    await Promise.all(answers);
  });

  it('The writer during an append decides requests, but not in the pause after a failed one', async () => {
    await working.stop();
    const { replica } = working;
    working = await startWriter(ledger, { replica, retry: { firstMs: 40, maxMs: 40 } });
    const before = ledger.tried.length;
    ledger.faults.push(ledger.lostRequest);
    const first = submit('a');
    while (ledger.faults.length > 0) await turn();
    await turns();
    const second = submit('b');
    await Promise.all([first, second]);
    expect(ledger.tried.slice(before).map(({ events }) => events.length)).to.deep.equal([1, 2]);
  });

  it('The writer during an append answers the requests of the append before it', async () => {
    held = ledger.holdAppend();
    const first = submit('a');
    await turns();
    const second = ledger.holdAppend();
    const next = submit('b');
    await turns();
    held.open();
    const { answer } = await answerOf(first).finally(second.open);
    expect(answer.events).to.equal(1);
    expect(ledger.faults, 'the next append was sent').to.have.length(0);
    await next;
  });

  it('The writer during an append decides queries whose answers take long, and returns each of them in a turn of its own', async () => {
    held = ledger.holdAppend();
    const first = submit('a');
    await turns();
    const counted = countTurns();
    const answeredIn: number[] = [];
    let decisions = 0;
    const answer = (): number => (decisions++, counted.spend(20));
    const query = { answer, actor: '', signal: never };
    const queries = [0, 1, 2].map(() =>
      working.writer.submit(query).then(() => void answeredIn.push(counted.spend(0))),
    );
    await turns();
    expect(decisions).to.equal(3);
    held.open();
    await Promise.all([first, ...queries]).finally(counted.end);
    expect(new Set(answeredIn).size).to.equal(3);
  });

  it('The writer during an append whose reply is lost answers its request, and does not decide that again', async () => {
    ledger.faults.push(ledger.lostReply);
    let decisions = 0;
    const request = requestFor(allocate('a'), never);
    const command: typeof request.command = (...at) => (decisions++, request.command?.(...at));
    expect((await working.writer.submit({ ...request, command })).answer.events).to.equal(1);
    await submit('b');
    expect(decisions).to.equal(1);
  });
});
