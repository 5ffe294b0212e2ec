import { hash } from 'node:crypto';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { headKey, logKey } from '../../log/store/keys.ts';
import { headText } from '../../log/store/stored-values.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import {
  bind,
  submitAll,
  createLedger,
  failureOf,
  macvlan,
  never,
  startWriter,
  unbind,
} from '../../log/testing/running-writer.ts';
import { eventVersions } from '../../domain/events/schema-version.ts';
import { verifyLedger } from './verify-ledger.ts';

const newestVersion = eventVersions.at(-1);

describe('Verification of events that only a newer version of ipledger reads', () => {
  let ledger: MemoryLedger;
  beforeEach(async () => {
    ledger = new MemoryLedger();
    const { writer, stop } = await startWriter(ledger);
    await submitAll(writer, createLedger(), macvlan, allocate('a'), bind('a'), unbind('a'), allocate('b'));
    await stop();
  });

  type Edit = (text: string) => string;
  const newer: Edit = (text) => text.replace(`"v":${newestVersion}`, '"v":99');
  const unheardOf: Edit = (text) => text.replace('"type":"AddressUnbound"', '"type":"AddressSold"');
  const edit = (seq: number, how: Edit): void => void ledger.put(logKey(seq), how(ledger.get(logKey(seq)) ?? ''));

  /** Makes the last two events of the hash chain newer events. */
  async function write(how: Edit): Promise<void> {
    const head = await ledger.head(never);
    edit(5, how);
    edit(6, (text) => text.replace(/"prev":"[0-9a-f]+"/, `"prev":"${hash('sha256', ledger.get(logKey(5)) ?? '')}"`));
    ledger.put(headKey, headText({ ...head, hash: hash('sha256', ledger.get(logKey(6)) ?? '') }));
  }

  for (const [name, how] of Object.entries({ version: newer, type: unheardOf }))
    it(`Verification of events that only a newer version of ipledger reads reports no finding, and requires an upgrade, for an unknown ${name}`, async () => {
      await write(how);
      const { code, message } = await failureOf(verifyLedger(ledger, { signal: never }));
      expect(code).to.equal('NOT_IMPLEMENTED');
      expect(message).to.match(
        /^event 5 .*: upgrade this program, and verify again. The log is correct up to event 4$/,
      );
    });

  for (const [seq, how] of [
    [1, newer],
    [5, newer],
    [5, unheardOf],
    [6, newer],
  ] as const)
    it(`Verification of events that only a newer version of ipledger reads reports an edited event ${seq} as ${how(`"v":${newestVersion},"type":"AddressUnbound"`)}`, async () => {
      edit(seq, how);
      const { findings } = await verifyLedger(ledger, { signal: never });
      expect(findings.map(({ key }) => key)).to.deep.equal([logKey(seq)]);
      expect(findings[0]?.what).to.match(/\. But it was edited: the next event has the hash [0-9a-f]{64}, not/);
    });
});
