import { hash } from 'node:crypto';
import { expect } from 'chai';
import { allocate } from '../domain/specification.ts';
import { headKey, headText, logKey } from '../ledger/keys.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import {
  bind,
  carryOut,
  createLedger,
  failureOf,
  macvlan,
  never,
  startWriter,
  unbind,
} from '../ledger/specification.ts';
import { verifyKeys } from './verify.ts';

describe('Verification of events that only a newer ipledger reads', () => {
  let ledger: MemoryLedger;
  beforeEach(async () => {
    ledger = new MemoryLedger();
    const { writer, stop } = await startWriter(ledger);
    await carryOut(writer, createLedger(), macvlan, allocate('a'), bind('a'), unbind('a'), allocate('b'));
    await stop();
  });

  type Edit = (text: string) => string;
  const newer: Edit = (text) => text.replace('"v":5', '"v":99');
  const unheardOf: Edit = (text) => text.replace('"type":"AddressUnbound"', '"type":"AddressSold"');
  const edit = (seq: number, how: Edit): void => void ledger.put(logKey(seq), how(ledger.get(logKey(seq)) ?? ''));

  /** As it would write them: the last two, chained. */
  async function write(how: Edit): Promise<void> {
    const head = await ledger.head(never);
    edit(5, how);
    edit(6, (text) => text.replace(/"prev":"[0-9a-f]+"/, `"prev":"${hash('sha256', ledger.get(logKey(5)) ?? '')}"`));
    ledger.put(headKey, headText({ ...head, hash: hash('sha256', ledger.get(logKey(6)) ?? '') }));
  }

  for (const [name, how] of Object.entries({ version: newer, type: unheardOf }))
    it(`accuses nobody, and says that it takes a newer one: of another ${name}`, async () => {
      await write(how);
      const { code, message } = await failureOf(verifyKeys(ledger, { signal: never }));
      expect(code).to.equal('NOT_IMPLEMENTED');
      expect(message).to.match(/^event 5 .*: upgrade it, and verify again. Up to 4 all is well$/);
    });

  for (const [seq, how] of [
    [1, newer],
    [5, newer],
    [5, unheardOf],
    [6, newer],
  ] as const)
    it(`finds one that somebody made of event ${seq}: ${how('"v":5,"type":"AddressUnbound"')}`, async () => {
      edit(seq, how);
      const { findings } = await verifyKeys(ledger, { signal: never });
      expect(findings.map(({ key }) => key)).to.deep.equal([logKey(seq)]);
      expect(findings[0]?.what).to.match(/; but it was edited: what comes behind names [0-9a-f]{64}, and not/);
    });
});
