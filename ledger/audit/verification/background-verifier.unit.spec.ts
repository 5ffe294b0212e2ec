import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { emptyHead, chainEvent, parseEvent } from '../../log/chain/chain.ts';
import { Follower } from '../../log/reader/follower.ts';
import { headKey, keyPrefix, logKey, logPrefix } from '../../log/store/keys.ts';
import { headText, parseHead } from '../../log/store/stored-values.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import { Replica } from '../../log/reader/replica.ts';
import {
  bind,
  submitAll,
  createLedger,
  macvlan,
  never,
  newId,
  release,
  silentLog,
  startWriter,
  unbind,
  type RunningWriter,
} from '../../log/testing/running-writer.ts';
import { BackgroundVerifier, type BackgroundVerifierOptions } from './background-verifier.ts';
import { type VerificationResult, verifyLedger } from './verify-ledger.ts';

const claim = '/ipledger/v1/addr/macvlan/172.17.0.11';

describe('BackgroundVerifier', () => {
  let memory: MemoryLedger;
  let working: RunningWriter;
  let verifier: BackgroundVerifier;
  let over: AbortController;
  let ended: Promise<unknown>;
  let logged: string[];
  let isWriter: boolean;
  beforeEach(async () => {
    memory = new MemoryLedger(undefined, 2);
    working = await startWriter(memory);
    await submitAll(working.writer, createLedger(), macvlan, allocate('a'), allocate('b'));
    over = new AbortController();
    logged = [];
    isWriter = false;
  });
  afterEach(async () => {
    over.abort();
    await working.stop();
    await ended;
  });

  /** Starts a standby that verifies without pauses. */
  async function standBy(message = 'ledger verified', more: Partial<BackgroundVerifierOptions> = {}): Promise<void> {
    const replica = await Replica.load(memory, never);
    const follower = new Follower(replica, silentLog);
    const log = pino({}, { write: (line: string) => logged.push(line) });
    const options = { replica, follower: () => (isWriter ? undefined : follower), log, betweenPagesMs: 1 };
    verifier = new BackgroundVerifier({ ...options, ...more });
    ended = Promise.all([follower.run(over.signal), verifier.run(over.signal)]);
    await eventually(() => expect(logged.join('')).to.contain(message));
  }

  const found = (): string[] => verifier.findings.map(({ key, what }) => `${key}: ${what}`);

  async function eventually(check: () => void): Promise<void> {
    for (const deadline = Date.now() + 10_000; ;) {
      try {
        return check();
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await sleep(5);
    }
  }

  it('BackgroundVerifier reports nothing while other replicas write', async () => {
    await standBy();
    for (let round = 0; round < 30; round++) {
      await submitAll(
        working.writer,
        allocate(`c${round}`),
        bind(`c${round}`),
        release(`c${round}`),
        unbind(`c${round}`),
      );
      await sleep(3);
    }
    expect(found()).to.deep.equal([]);
  });

  it('verifiedAt is the time of the last complete round', async () => {
    const before = Date.now();
    await standBy();
    await eventually(() => expect(verifier.verifiedAt).to.be.within(before, Date.now()));
  });

  it('verifiedAt is undefined while the log cannot be read, because no findings prove nothing', async () => {
    const { keys } = memory;
    let rounds = 0;
    memory.keys = async function* (range, ...more) {
      if (range.from.startsWith(logPrefix)) throw new IpledgerError('POSITION_GONE', 'event 1 is sealed');
      if (range.from === keyPrefix) rounds++;
      yield* keys.call(memory, range, ...more);
    };
    await standBy('cannot be verified');
    await eventually(() => expect(rounds).to.be.above(3));
    expect([verifier.verifiedAt, found()]).to.deep.equal([undefined, []]);
  });

  it('BackgroundVerifier marks the ledger as verified up to its head, and not while there is a finding', async () => {
    const marks: number[] = [];
    await standBy('ledger verified', { onVerified: async ({ seq }) => void marks.push(seq) });
    await eventually(() => expect(marks.length).to.be.at.least(2));
    expect(marks[0]).to.equal(4);
    await submitAll(working.writer, allocate('c'));
    await eventually(() => expect(marks.at(-1)).to.equal(5));
    memory.put('/ipledger/v1/note', 'hello');
    await eventually(() => expect(found()).to.have.length(1));
    await submitAll(working.writer, allocate('d'));
    const { verifiedAt = 0 } = verifier;
    await eventually(() => expect(verifier.verifiedAt).to.be.above(verifiedAt));
    expect(marks.at(-1)).to.equal(5);
  });

  it('verification continues if its mark cannot be written', async () => {
    const onVerified = () => Promise.reject(new IpledgerError('UNAVAILABLE', 'the archive is unavailable'));
    await standBy('the mark of the verification could not be written', { onVerified });
    await eventually(() => expect(verifier.verifiedAt).to.be.above(0));
  });

  it('BackgroundVerifier ends the verification of the log when the replica becomes the writer, and verifies again in its next term', async () => {
    let verifications = 0;
    const verifyLog = (_ledger: string, signal: AbortSignal): Promise<VerificationResult> => {
      if (++verifications > 1) return verifyLedger(memory, { signal });
      isWriter = true;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        ofFirst = signal;
      });
    };
    let ofFirst: AbortSignal | undefined;
    const standing = standBy('ledger verified', { verifyLog });
    await eventually(() => expect(ofFirst?.aborted).to.equal(true));
    expect(verifications).to.equal(1);
    isWriter = false;
    await standing;
    expect(verifications).to.equal(2);
    expect(logged.join('')).to.not.contain('failed');
  });

  it('BackgroundVerifier reports a key that is edited, until it is restored', async () => {
    await standBy();
    const text = memory.get(claim) ?? '';
    memory.put(claim, text.replace('uid-a', 'uid-x'));
    await eventually(() =>
      expect(found()).to.deep.equal([`${claim}: holder.uid is "uid-x", but according to the log "uid-a"`]),
    );
    expect(logged.join('')).to.contain('another program changed the ledger');
    memory.put(claim, text);
    await eventually(() => expect(found()).to.deep.equal([]));
  });

  it('BackgroundVerifier reports a deleted key, and a key that no replica wrote', async () => {
    await standBy();
    memory.remove(claim);
    memory.put('/ipledger/v1/note', 'hello');
    await eventually(() => expect(found()).to.have.length(2));
    expect(found().join()).to.match(
      /172\.17\.0\.11: it is missing.*note: ipledger has no such key|note: .*172\.17\.0\.11: it is/,
    );
  });

  it('the reason why keys cannot be read is logged once', async () => {
    const { keys } = memory;
    let tries = 0;
    memory.keys = async function* (...args) {
      if (++tries > 3) memory.keys = keys;
      else throw new IpledgerError('UNAVAILABLE', 'the archive is unavailable');
      yield* keys.apply(memory, args);
    };
    await standBy();
    const warnings = logged.filter((line) => line.includes('verifying the keys failed; retrying'));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('the archive is unavailable');
  });

  it('BackgroundVerifier reports faults from before its start', async () => {
    memory.put(claim, (memory.get(claim) ?? '').replace('uid-a', 'uid-x'));
    await standBy();
    await eventually(() => expect(found()[0]).to.match(/holder\.uid is "uid-x"/));
  });

  it('BackgroundVerifier verifies again when a key that was wrong at its start is written, and stops the replica when the ledger is correct', async () => {
    const text = memory.get(claim) ?? '';
    memory.put(claim, text.replace('uid-a', 'uid-x'));
    memory.put('/ipledger/v1/note', 'hello');
    await standBy();
    memory.put(claim, text);
    await eventually(() => expect(found().join()).to.not.contain('according to the log "uid-a"'));
    expect(found().join()).to.contain('note: ipledger has no such key');
    memory.remove('/ipledger/v1/note');
    const reason = await ended.catch(String);
    expect(reason).to.match(/^IpledgerError: the findings of the ledger are repaired: this allocator ends, to load it/);
    ended = Promise.resolve();
  });

  it('BackgroundVerifier reports an event that breaks a rule, and still follows it', async () => {
    await standBy();
    // Another program writes an event with a correct hash chain that gives b's address to another
    // Pod.
    const head = parseHead(memory.get(headKey) ?? '');
    const { sequenced } = parseEvent(memory.get(logKey(4)) ?? '');
    if (sequenced.type !== 'AddressAllocated') throw new Error(sequenced.type);
    const { data, subnet, type } = sequenced;
    const event = { type, subnet, data: { ...data, uid: 'uid-x', attachment: { ...data.attachment, pod: 'x' } } };
    const before = { [data.addresses[0]?.address ?? '']: 4 };
    const wrapping = {
      id: newId(),
      command: newId(),
      part: [1, 1],
      at: head.at,
      clock: head.at,
      actor: 'x',
      before,
    } as const;
    const next = chainEvent(head.seq === 0 ? emptyHead : head, event, wrapping);
    memory.put(logKey(5), next.stored.text);
    memory.put(headKey, headText(next.head));
    await eventually(() =>
      expect(found().find((each) => each.includes('/log/'))).to.equal(
        `${logKey(5)}: event 5 allocates 172.17.0.12 of subnet macvlan, which attachment macvlan.default/0 of Pod default/b holds since event 4`,
      ),
    );
  });
});
