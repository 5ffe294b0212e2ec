import { expect } from 'chai';
import { describeState } from './domain/describe.ts';
import { allocate } from './domain/specification.ts';
import { dropRestingClaims } from './drop-claims.ts';
import { LedgerClock } from './ledger/clock.ts';
import { addressKey, addressPrefix } from './ledger/keys.ts';
import { MemoryLedger } from './ledger/memory.ts';
import { Replica } from './ledger/replica.ts';
import { replay } from './ledger/replay.ts';
import {
  applySubnet,
  ask,
  carryOut,
  createLedger,
  describeFold,
  logOf,
  never,
  release,
  silent,
  startWriter,
  typesOf,
  type Working,
} from './ledger/specification.ts';
import { verifyKeys } from './verify/verify.ts';

const far = (index: number): string => `fd00:${(index + 1).toString(16)}::7`;
const wide = { provider: 'wide.default', subnets: ['wide'] };

describe('Claims that rest', () => {
  let memory: MemoryLedger;
  let working: Working;
  let passedMs: number;
  beforeEach(async () => {
    passedMs = 0;
    memory = new MemoryLedger();
    const clock = new LedgerClock({ wall: () => Date.now() + passedMs, monotonic: () => performance.now() });
    working = await startWriter(memory, { replica: await Replica.load(memory, never, clock) });
    const spec = { cidrBlock: 'fd00::/16', cooldownMs: 1_000, bindingTimeoutMs: 2_000 };
    await carryOut(working.writer, createLedger(), applySubnet('wide', spec));
  });
  afterEach(() => working.stop());

  /** Pods that asked for addresses far apart, one after another, and are gone. */
  async function comeAndGo(count: number, first = 0): Promise<void> {
    for (let index = first; index < first + count; index++)
      await carryOut(
        working.writer,
        allocate(`pod-${index}`, { ...wide, candidates: [[far(index)]] }),
        release(`pod-${index}`),
      );
  }

  /** Looks until there are so many drops in the log. */
  async function drop(keep: number, drops: number): Promise<void> {
    const enough = new AbortController();
    const stop = working.replica.onCommitted(() => {
      const events = working.replica.recentFrom(1) ?? [];
      if (typesOf(events).filter((type) => type === 'ClaimsDropped').length >= drops) enough.abort();
    });
    const options = { replica: working.replica, writer: () => working.writer, log: silent, keep, lookMs: 1 };
    await dropRestingClaims(options, enough.signal);
    stop();
  }

  const kept = (): string[] =>
    Object.keys(memory.everything())
      .filter((key) => key.startsWith(addressPrefix))
      .toSorted();
  const keys = (first: number, end: number): string[] =>
    Array.from({ length: end - first }, (_, index) =>
      addressKey({ subnet: 'wide', address: far(first + index) }),
    ).toSorted();

  it('are dropped with their keys, those left longest ago first, but the last few', async () => {
    await comeAndGo(8);
    passedMs = 3_000;
    await drop(3, 1);
    expect(kept()).to.deep.equal(keys(5, 8));
    expect([...(working.replica.state.claims.get('wide')?.keys() ?? [])]).to.have.length(3);
  });

  it('are dropped by events of at most a hundred, which all name those before', async () => {
    await comeAndGo(230);
    passedMs = 3_000;
    await drop(20, 3);
    const drops = (await logOf(memory)).filter(({ sequenced }) => sequenced.type === 'ClaimsDropped');
    const data = drops.map(({ sequenced }) => sequenced.data as { addresses: string[]; previous: number[] });
    expect(data.map(({ addresses }) => addresses.length)).to.deep.equal([100, 100, 10]);
    const [one, two] = drops.map(({ envelope }) => envelope.seq);
    expect(data.map(({ previous }) => previous)).to.deep.equal([[], [one], [two, one]]);
    for (const { text } of drops) expect(Buffer.byteLength(text)).to.be.below(16 << 10);
    expect(kept()).to.deep.equal(keys(210, 230));
  });

  it('leave a ledger that is as it was written, folds, loads and replays to the same, and goes on', async () => {
    await comeAndGo(8);
    passedMs = 3_000;
    await drop(3, 1);
    // One of them is used again, and one that was never used.
    await comeAndGo(1, 2);
    await comeAndGo(1, 9);
    const { replica } = working;
    const fold = describeFold(await logOf(memory));
    expect(describeState(replica.state)).to.deep.equal(fold);
    expect(describeState((await Replica.load(memory, never)).state)).to.deep.equal(fold);
    expect(await verifyKeys(memory, { signal: never })).to.deep.include({ findings: [] });
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

  it('are used again by a writer that was started since', async () => {
    await comeAndGo(8);
    passedMs = 3_000;
    await drop(3, 1);
    const { writer, stop } = await startWriter(memory);
    const { answer } = await writer.submit(ask(allocate('again', { ...wide, candidates: [[far(0)]] })));
    expect(answer.addresses).to.deep.equal([far(0)]);
    await stop();
  });

  it('are followed by a standby', async () => {
    const standby = await Replica.load(memory, never);
    await comeAndGo(8);
    passedMs = 3_000;
    await drop(3, 1);
    await standby.catchUp(never);
    expect(describeState(standby.state)).to.deep.equal(describeState(working.replica.state));
    expect(standby.revisionOf({ subnet: 'wide', address: far(0) })).to.equal(0n);
  });

  it('of which one is missing in etcd are found by the audit, and so is the list of drops', async () => {
    await comeAndGo(8);
    passedMs = 3_000;
    await drop(3, 1);
    memory.remove('/ipledger/v1/dropped/wide');
    memory.put(addressKey({ subnet: 'wide', address: far(0) }), '{"last":3}');
    const { findings } = await verifyKeys(memory, { signal: never });
    expect(findings.map(({ key, what }) => `${key}: ${what}`)).to.deep.equal([
      `${addressKey({ subnet: 'wide', address: far(0) })}: the log says nothing of it: something else than ipledger put it there`,
      '/ipledger/v1/dropped/wide: it is missing: event 19 is the last to speak of it',
    ]);
  });
});
