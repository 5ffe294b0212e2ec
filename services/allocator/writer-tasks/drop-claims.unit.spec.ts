import { expect } from 'chai';
import { describeState } from '../../../ledger/domain/testing/describe-state.ts';
import type { ClaimMap } from '../../../ledger/domain/state/claims.ts';
import { allocate } from '../../../ledger/domain/testing/event-fixtures.ts';
import { dropIdleClaims } from './drop-claims.ts';
import { LedgerClock } from '../../../ledger/log/chain/ledger-clock.ts';
import { addressKey, addressPrefix } from '../../../ledger/log/store/keys.ts';
import { MemoryLedger } from '../../../ledger/log/testing/memory-ledger.ts';
import { Replica } from '../../../ledger/log/reader/replica.ts';
import { replay } from '../../../ledger/log/reader/replay.ts';
import {
  applySubnet,
  requestFor,
  submitAll,
  createLedger,
  describeFold,
  logOf,
  never,
  release,
  silentLog,
  startWriter,
  typesOf,
  type RunningWriter,
} from '../../../ledger/log/testing/running-writer.ts';
import { verifyLedger } from '../../../ledger/audit/verification/verify-ledger.ts';

const far = (index: number): string => `fd00:${(index + 1).toString(16)}::7`;
const wide = { provider: 'wide.default', subnets: ['wide'] };

describe('dropIdleClaims', () => {
  let memory: MemoryLedger;
  let working: RunningWriter;
  let elapsedMs: number;
  beforeEach(async () => {
    elapsedMs = 0;
    memory = new MemoryLedger();
    const clock = new LedgerClock({ wall: () => Date.now() + elapsedMs, monotonic: () => performance.now() });
    working = await startWriter(memory, { replica: await Replica.load(memory, never, clock) });
    const spec = { cidrBlock: 'fd00::/16', cooldownMs: 1_000, bindingTimeoutMs: 2_000 };
    await submitAll(working.writer, createLedger(), applySubnet('wide', spec));
  });
  afterEach(() => working.stop());

  let created = 0;
  /** Allocates and releases scattered addresses, one Pod after another. */
  async function allocateAndRelease(count: number, first = 0): Promise<void> {
    for (let index = first; index < first + count; index++) {
      const uid = `uid-${++created}`;
      const request = { ...wide, candidates: [[far(index)]] };
      await submitAll(working.writer, allocate(`pod-${index}`, request, { uid }), release(`pod-${index}`, uid));
    }
  }

  /** Runs until the log has this many ClaimsDropped events. */
  async function drop(keep: number, drops: number): Promise<void> {
    const done = new AbortController();
    const stop = working.replica.onCommitted(() => {
      const events = working.replica.recentFrom(1) ?? [];
      if (typesOf(events).filter((type) => type === 'ClaimsDropped').length >= drops) done.abort();
    });
    const options = { replica: working.replica, writer: () => working.writer, log: silentLog, keep, intervalMs: 1 };
    await dropIdleClaims(options, done.signal);
    stop();
  }

  const storedClaims = (): string[] =>
    Object.keys(memory.everything())
      .filter((key) => key.startsWith(addressPrefix))
      .toSorted();
  const keys = (first: number, end: number): string[] =>
    Array.from({ length: end - first }, (_, index) =>
      addressKey({ subnet: 'wide', address: far(first + index) }),
    ).toSorted();

  it('dropIdleClaims drops claims with their keys, the longest idle first, and keeps the newest', async () => {
    await allocateAndRelease(8);
    elapsedMs = 3_000;
    await drop(3, 1);
    expect(storedClaims()).to.deep.equal(keys(5, 8));
    expect([...(working.replica.state.claims.get('wide')?.keys() ?? [])]).to.have.length(3);
  });

  it('dropIdleClaims drops at most 100 claims per event, and each event names the earlier drops', async () => {
    await allocateAndRelease(230);
    elapsedMs = 3_000;
    await drop(20, 3);
    const drops = (await logOf(memory)).filter(({ sequenced }) => sequenced.type === 'ClaimsDropped');
    const data = drops.map(({ sequenced }) => sequenced.data as { addresses: string[]; previous: number[] });
    expect(data.map(({ addresses }) => addresses.length)).to.deep.equal([100, 100, 10]);
    const [one, two] = drops.map(({ envelope }) => envelope.seq);
    expect(data.map(({ previous }) => previous)).to.deep.equal([[], [one], [two, one]]);
    for (const { text } of drops) expect(Buffer.byteLength(text)).to.be.below(16 << 10);
    expect(storedClaims()).to.deep.equal(keys(210, 230));
  });

  it('afterwards the ledger verifies, and folds, loads and replays to the same state', async () => {
    await allocateAndRelease(8);
    elapsedMs = 3_000;
    await drop(3, 1);
    // One dropped address and one fresh address are allocated.
    await allocateAndRelease(1, 2);
    await allocateAndRelease(1, 9);
    const { replica } = working;
    const fold = describeFold(await logOf(memory));
    expect(describeState(replica.state)).to.deep.equal(fold);
    expect(describeState((await Replica.load(memory, never)).state)).to.deep.equal(fold);
    expect(await verifyLedger(memory, { signal: never })).to.deep.include({ findings: [] });
    const copy = new MemoryLedger();
    const lines = (await logOf(memory)).map(({ text }) => text);
    await replay(
      copy,
      (async function* () {
        yield* lines;
      })(),
      { signal: never },
    );
    expect(copy.everything()).to.deep.equal(memory.everything());
  });

  it('a writer that starts later can allocate a dropped address', async () => {
    await allocateAndRelease(8);
    elapsedMs = 3_000;
    await drop(3, 1);
    const { writer, stop } = await startWriter(memory);
    const { answer } = await writer.submit(requestFor(allocate('again', { ...wide, candidates: [[far(0)]] })));
    expect(answer.addresses).to.deep.equal([far(0)]);
    await stop();
  });

  it('a standby follows the drop of claims', async () => {
    const standby = await Replica.load(memory, never);
    await allocateAndRelease(8);
    elapsedMs = 3_000;
    await drop(3, 1);
    await standby.catchUp(never);
    expect(describeState(standby.state)).to.deep.equal(describeState(working.replica.state));
    expect(standby.revisionOf({ subnet: 'wide', address: far(0) })).to.equal(0n);
  });

  it('verification finds changes of the keys that remain', async () => {
    await allocateAndRelease(8);
    elapsedMs = 3_000;
    await drop(3, 1);
    memory.remove('/ipledger/v1/dropped/wide');
    memory.put(addressKey({ subnet: 'wide', address: far(0) }), '{"last":3}');
    const { findings } = await verifyLedger(memory, { signal: never });
    expect(findings.map(({ key, what }) => `${key}: ${what}`)).to.deep.equal([
      `${addressKey({ subnet: 'wide', address: far(0) })}: it does not follow from the log: another program wrote it`,
      '/ipledger/v1/dropped/wide: it is missing: event 19 was the last to change it',
    ]);
  });

  it('dropIdleClaims reads no claim of a Subnet if Pods hold nearly all of its addresses', async () => {
    for (let index = 0; index < 20; index++)
      await submitAll(working.writer, allocate(`live-${index}`, { ...wide, candidates: [[far(index)]] }));
    await allocateAndRelease(3, 20);
    elapsedMs = 10_000_000;
    const done = new AbortController();
    let passes = 0;
    const writer = () => (++passes === 3 && done.abort(), working.writer);
    const claims = working.replica.state.claims.get('wide') as ClaimMap;
    const iterate = claims[Symbol.iterator].bind(claims);
    let reads = 0;
    Object.assign(claims, { [Symbol.iterator]: () => (reads++, iterate()) });
    await dropIdleClaims({ replica: working.replica, writer, log: silentLog, keep: 5, intervalMs: 1 }, done.signal);
    expect([claims.size, reads]).to.deep.equal([23, 0]);
  });
});
