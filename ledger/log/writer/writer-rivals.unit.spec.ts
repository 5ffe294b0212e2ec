import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { describeState } from '../../domain/testing/describe-state.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { emptyHead, advanceHead, type Head, type StoredEvent } from '../chain/chain.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import {
  type Answer,
  applySubnet,
  requestFor,
  bind,
  submitAll,
  createLedger,
  describeFold,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../testing/running-writer.ts';
import { type Fault, UnreliableLedger } from '../testing/unreliable-ledger.ts';

type FaultName = 'lostRequest' | 'lostReply' | 'late' | 'overtaken';

/**
 * One step: a command to one of two writers, a fault between a writer and etcd, or some turns of
 * the event loop.
 */
type Step =
  | { readonly kind: 'command'; readonly to: 0 | 1; readonly command: Untimed }
  | { readonly kind: 'fault'; readonly at: 0 | 1; readonly fault: FaultName }
  | { readonly kind: 'time'; readonly turns: number };

const anyPod = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  { weight: 5, arbitrary: anyPod.map((pod) => allocate(pod, smallAttachment)) },
  { weight: 2, arbitrary: anyPod.map((pod) => allocate(pod, { candidates: [['172.17.0.11']] })) },
  { weight: 2, arbitrary: anyPod.map((pod) => allocateAll(pod, [smallAttachment, {}])) },
  { weight: 4, arbitrary: anyPod.map((pod) => release(pod)) },
  { weight: 2, arbitrary: anyPod.map((pod) => bind(pod, 'small.default')) },
  { weight: 2, arbitrary: anyPod.map((pod) => unbind(pod)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Untimed>(
      { type: 'RetireSubnet', name: 'small' },
      small,
      applySubnet('more', { cidrBlock: '10.1.0.0/24' }),
    ),
  },
);
const either = fc.constantFrom(0 as const, 1 as const);
const anyFault = fc.constantFrom<FaultName>('lostRequest', 'lostReply', 'late', 'overtaken');
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('command'), to: either, command: anyCommand }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fault'), at: either, fault: anyFault }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('time'), turns: fc.nat(5) }) },
);

interface Answered {
  readonly command: Untimed;
  /** Undefined if the command was refused. */
  readonly answer: Answer | undefined;
  readonly head: Head | undefined;
  times: number;
}

interface Played {
  readonly memory: MemoryLedger;
  readonly answers: readonly Answered[];
  readonly submitted: number;
  /** The state of each writer's replica, after it has caught up. */
  readonly states: readonly object[];
}

/** Runs two writers without an election on one ledger. */
async function play(steps: readonly Step[]): Promise<Played> {
  const memory = new MemoryLedger();
  const beginning = await startWriter(memory);
  await submitAll(beginning.writer, createLedger(), macvlan, small);
  await beginning.stop();
  const roads = [new UnreliableLedger(memory), new UnreliableLedger(memory)] as const;
  const rivals = [await startWriter(roads[0]), await startWriter(roads[1])] as const;
  const answers: Answered[] = [];
  const waiting: Promise<void>[] = [];
  const give = (command: Untimed, to: 0 | 1): void => {
    const answered: Answered = { command, answer: undefined, head: undefined, times: 0 };
    answers.push(answered);
    const accept = ({ answer, head }: { answer: Answer; head: Head }): void => {
      Object.assign(answered, { answer, head, times: answered.times + 1 });
    };
    waiting.push(rivals[to].writer.submit(requestFor(command)).then(accept, () => void answered.times++));
  };
  for (const step of steps)
    if (step.kind === 'command') give(step.command, step.to);
    else if (step.kind === 'fault') roads[step.at].faults.push(roads[step.at][step.fault] satisfies Fault);
    else for (let turns = 0; turns < step.turns; turns++) await turn();
  await Promise.all(waiting);
  for (const { stop } of rivals) expect(await stop()).to.equal(undefined);
  for (const { replica } of rivals) await replica.catchUp(never);
  const states = rivals.map(({ replica }) => describeState(replica.state));
  return { memory, answers, submitted: waiting.length, states };
}

/** Asserts one chain, and that no address has two holders at any event. */
function assertNeverTwoHolders(log: readonly StoredEvent[]): void {
  const holders = new Map<string, string>();
  let head = emptyHead;
  for (const event of log) {
    head = advanceHead(head, event);
    const { sequenced } = event;
    for (const address of addressesOf(sequenced)) {
      const key = `${sequenced.subnet}/${address}`;
      if (sequenced.type === 'AddressAllocated') {
        expect(holders.get(key), `${key} at event ${sequenced.seq}`).to.equal(undefined);
        holders.set(key, sequenced.data.uid);
      } else if (sequenced.type === 'AddressReleased') {
        expect(holders.get(key), `${key} at event ${sequenced.seq}`).to.equal(sequenced.data.uid);
        holders.delete(key);
      }
    }
  }
}

/** Asserts that the answer of an Allocate matches the log at the head of the answer. */
function assertTrue(log: readonly StoredEvent[], { command, answer, head }: Answered): void {
  if (!answer || !head) return;
  expect(log[head.seq - 1]?.hash, 'the position of an answer is in the log').to.equal(head.hash);
  if (command.type !== 'Allocate') return;
  const held = new Set<string>();
  for (const { sequenced } of log.slice(0, head.seq))
    for (const address of addressesOf(sequenced)) {
      if (!('uid' in sequenced.data) || sequenced.data.uid !== command.pod.uid) continue;
      if (sequenced.type === 'AddressAllocated') held.add(address);
      if (sequenced.type === 'AddressReleased') held.delete(address);
    }
  expect([...held]).to.include.members([...answer.addresses]);
}

describe('Two writers without an election, behind a faulty network', () => {
  it('Two writers without an election, behind a faulty network answer each request once and correctly, allocate no address twice, and write keys that match the log', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: 'max' }), async (steps) => {
        const { memory, answers, submitted, states } = await play(steps);
        const log = await logOf(memory);
        assertNeverTwoHolders(log);
        const folded = describeFold(log);
        const { state } = await Replica.load(memory, never);
        expect(describeState(state), 'load(keys) = fold(log)').to.deep.equal(folded);
        for (const each of states) expect(each).to.deep.equal(folded);
        expect(answers.map(({ times }) => times)).to.deep.equal(Array.from({ length: submitted }, () => 1));
        for (const answered of answers) assertTrue(log, answered);
        const refused = log.flatMap(({ sequenced: { type, data } }) =>
          type === 'AllocationRefused' && 'reason' in data ? [`${data.uid}/${data.reason}`] : [],
        );
        expect(new Set(refused).size, 'a refusal is recorded once').to.equal(refused.length);
      }),
      { numRuns: 150 },
    );
  });
});
