import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import { endedPerChunk, endedPodId } from '../../domain/state/ended-pods.ts';
import type { EventVersion } from '../../domain/events/schema-version.ts';
import { verifyLedger } from '../../audit/verification/verify-ledger.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import { replay } from '../reader/replay.ts';
import { endedText } from '../store/ended-keys.ts';
import { addressKey, endedKey } from '../store/keys.ts';
import {
  createLedger,
  describeFold,
  failureOf,
  logOf,
  macvlan,
  never,
  release,
  requestFor,
  type RunningWriter,
  startWriter,
  submitAll,
} from '../testing/running-writer.ts';

const count = 2 * endedPerChunk + 3;
const dayMs = 86_400_000;

describe('The keys of ended Pods', () => {
  let memory: MemoryLedger;
  let working: RunningWriter;
  let version: EventVersion;
  beforeEach(async () => {
    memory = new MemoryLedger();
    version = 6;
    await start();
    await submitAll(working.writer, createLedger(), macvlan);
  });
  afterEach(() => working.stop());

  const start = async (): Promise<void> => {
    working = await startWriter(memory, { eventVersion: () => version });
  };
  const submitEach = (commandOf: (pod: string) => ReturnType<typeof release>): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, index) => working.writer.submit(requestFor(commandOf(`pod-${index}`)))),
    );
  const findings = async (): Promise<string[]> =>
    (await verifyLedger(memory, { signal: never })).findings.map(({ key, what }) => `${key}: ${what}`);
  const late = (pod: string) => failureOf(working.writer.submit(requestFor(allocate(pod))));

  it('The keys of ended Pods are written with the releases, so that a start, a standby, a verification and a replay see the same ended Pods as the log', async () => {
    const standby = await Replica.load(memory, never);
    await submitEach((pod) => allocate(pod));
    await submitEach((pod) => release(pod));
    const pods = Array.from({ length: count }, (_, index) => endedPodId('default', `pod-${index}`, `uid-pod-${index}`));
    expect([0, 1, 2, 3].map((index) => memory.get(endedKey(index)))).to.deep.equal([
      endedText(pods.slice(0, endedPerChunk)),
      endedText(pods.slice(endedPerChunk, 2 * endedPerChunk)),
      endedText(pods.slice(2 * endedPerChunk)),
      undefined,
    ]);
    expect(await findings()).to.deep.equal([]);
    const log = await logOf(memory);
    const fold = describeFold(log);
    await standby.catchUp(never);
    for (const replica of [working.replica, standby, await Replica.load(memory, never)])
      expect(describeState(replica.state)).to.deep.equal(fold);
    const copy = new MemoryLedger();
    const lines = async function* (): AsyncGenerator<string> {
      for (const { text } of log) yield text;
    };
    await replay(copy, lines(), { signal: never });
    expect(copy.everything()).to.deep.equal(memory.everything());
  });

  it('The keys of ended Pods reject a late request after a restart, when no claim and no newer Pod is left', async () => {
    await submitAll(working.writer, allocate('a'), release('a'));
    const dropped = { type: 'DropClaims', subnet: 'macvlan', addresses: ['172.17.0.11'] } as const;
    const answer = (): undefined => undefined;
    await working.writer.submit({
      ...requestFor(dropped),
      command: (now) => ({ ...dropped, now: now + dayMs }),
      answer,
    });
    expect(memory.get(addressKey({ subnet: 'macvlan', address: '172.17.0.11' }))).to.equal(undefined);
    await working.stop();
    await start();
    const { seq } = working.replica.head;
    expect(await late('a')).to.have.property('code', 'POD_SUPERSEDED');
    expect(working.replica.head.seq).to.equal(seq);
  });

  it('The keys of ended Pods lack Pods that ended before all replicas could read version 6, and contain all later ones', async () => {
    version = 5;
    await submitAll(working.writer, allocate('early'), release('early'));
    version = 6;
    await submitAll(working.writer, allocate('a'), release('a'));
    expect(memory.get(endedKey(0))).to.equal(endedText([endedPodId('default', 'a', 'uid-a')]));
    expect(await findings()).to.deep.equal([]);
    expect(await late('a')).to.have.property('code', 'POD_SUPERSEDED');
    await submitAll(working.writer, allocate('early'));
  });

  it('The keys of ended Pods are verified against the log, which finds a removed, a changed and an additional Pod', async () => {
    await submitEach((pod) => allocate(pod));
    await submitEach((pod) => release(pod));
    memory.remove(endedKey(0));
    memory.put(endedKey(1), endedText([]));
    memory.put(endedKey(7), endedText(['0123456789abcdef']));
    const found = await findings();
    expect(found).to.have.length(3);
    expect(found).to.include(`${endedKey(0)}: it is missing`);
    expect(found).to.include(`${endedKey(7)}: it does not follow from the log: another program wrote it`);
    expect(found.join()).to.contain(`${endedKey(1)}: pods.0 is absent, but according to the log "`);
  });
});
