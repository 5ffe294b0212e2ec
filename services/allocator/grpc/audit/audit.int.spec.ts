import { expect } from 'chai';
import { stream } from '../../../../lib/grpc/client.ts';
import type { MessageInput, Method } from '../../../../proto/codec.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import { generateKey } from '../../../../ledger/audit/checkpoints/signing-key.ts';
import { logKey } from '../../../../ledger/log/store/keys.ts';
import { failureOf, never } from '../../../../ledger/log/testing/running-writer.ts';
import {
  allocate,
  applyMacvlan,
  bind,
  type ServedAllocator,
  serveAllocator,
  signer,
} from '../testing/served-allocator.ts';

describe('The ledger', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    for (const pod of ['a', 'b', 'c']) await allocate(served, pod);
    await bind(served, 'a');
  });
  afterEach(() => served[Symbol.asyncDispose]());

  async function all<Request, Reply>(
    method: Method<Request, Reply, 'serverStream'>,
    request: MessageInput<Request>,
  ): Promise<Reply[]> {
    const replies: Reply[] = [];
    for await (const reply of stream(served.client, method, request, { silenceMs: 10_000, signal: never }))
      replies.push(reply);
    return replies;
  }
  const checkpoint = async () => await served.call(LedgerService.checkpoint, {});

  describe('Verify', () => {
    it('Verify finds nothing in an unchanged ledger, and returns its head', async () => {
      const { seq, hash, ledger } = served.replica.head;
      const replies = await all(LedgerService.verify, {});
      expect(replies.at(-1)).to.deep.equal({
        position: { epoch: 1, seq, hash, ledger },
        done: true,
        comparedKeys: 5,
        findings: [],
      });
    });

    it('Verify finds a change by another program', async () => {
      served.memory.remove(logKey(4));
      const [reply] = (await all(LedgerService.verify, {})).slice(-1);
      expect(reply).to.deep.include({ done: true });
      expect(reply?.comparedKeys).to.equal(undefined);
      expect(reply?.findings).to.deep.equal([
        { key: logKey(4), what: 'event 4 is missing: the next event is 5', expected: '' },
      ]);
    });

    it('Verify compares the ledger with checkpoints', async () => {
      const { note, verifierKey } = await checkpoint();
      const clean = await all(LedgerService.verify, { checkpoints: note, verifierKeys: [verifierKey] });
      expect(clean.at(-1)?.findings).to.deep.equal([]);
      const other = await all(LedgerService.verify, {
        checkpoints: note,
        verifierKeys: [generateKey('other').verifier],
      });
      expect(other.at(-1)?.findings[0]?.what).to.match(/is not a trusted key at this event/);
    });

    it('Verify reports trusted keys without checkpoints, as after a file was emptied', async () => {
      const { verifierKey } = await checkpoint();
      const [reply] = (await all(LedgerService.verify, { verifierKeys: [verifierKey] })).slice(-1);
      expect(reply?.findings[0]?.what).to.match(/^no checkpoint was compared/);
    });

    it('Verify rejects invalid checkpoints and keys', async () => {
      for (const request of [{ checkpoints: 'hello' }, { verifierKeys: ['hello'] }])
        expect(await failureOf(all(LedgerService.verify, request))).to.have.property('code', 'INVALID_REQUEST');
    });
  });

  describe('Export', () => {
    const linesOf = async (request: { fromSeq?: number; toSeq?: number }): Promise<string[]> =>
      (await all(LedgerService.export, request)).flatMap(({ lines }) => lines);
    const stored = (seq: number): string => served.memory.get(logKey(seq)) ?? '';

    it('Export returns the stored lines of the log, or of a range', async () => {
      expect(await linesOf({})).to.deep.equal([1, 2, 3, 4, 5, 6].map(stored));
      expect(await linesOf({ fromSeq: 3, toSeq: 4 })).to.deep.equal([3, 4].map(stored));
      expect(await linesOf({ fromSeq: 6 })).to.deep.equal([stored(6)]);
    });

    it('Export returns the position of its last line', async () => {
      const [reply] = await all(LedgerService.export, {});
      const { epoch, seq, hash } = served.replica.head;
      expect(reply?.position).to.deep.equal({ epoch, seq, hash });
    });

    it('Export rejects a range outside the ledger', async () => {
      const beyond = await failureOf(linesOf({ toSeq: 7 }));
      expect(beyond).to.include({
        code: 'INVALID_REQUEST',
        message: 'event 7 does not exist: the ledger ends with event 6',
      });
      expect((await failureOf(linesOf({ fromSeq: 5, toSeq: 4 }))).code).to.equal('INVALID_REQUEST');
      served.memory.remove(logKey(1));
      expect((await failureOf(linesOf({}))).code).to.equal('POSITION_GONE');
    });

    it('Export fails at a gap and at a broken chain', async () => {
      const text = stored(4);
      served.memory.put(logKey(4), text.replace('uid-b', 'uid-x'));
      expect((await failureOf(linesOf({}))).message).to.match(/^the hash chain is broken at event 5/);
      served.memory.remove(logKey(4));
      expect((await failureOf(linesOf({}))).message).to.match(/^the log has a gap: event 5 follows event 3\. /);
    });
  });

  describe('Checkpoint', () => {
    it('Checkpoint signs the current head', async () => {
      const { position, note, verifierKey } = await checkpoint();
      const { epoch, seq, hash, ledger } = served.replica.head;
      expect(position).to.deep.equal({ epoch, seq, hash, ledger });
      expect(note).to.contain(`\n${seq}\n${Buffer.from(hash, 'hex').toString('base64')}\nepoch 1\n`);
      expect(verifierKey).to.equal(signer.verifier.text);
    });

    it('Checkpoint fails on a standby, and reports the reason if there is no writer', async () => {
      await served.stepDown('127.0.0.1:1');
      expect((await failureOf(checkpoint())).code).to.equal('NOT_WRITER');
      await served.stepDown(undefined);
      expect((await failureOf(checkpoint())).code).to.equal('LEDGER_NOT_WRITABLE');
    });
  });
});
