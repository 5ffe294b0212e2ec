import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Event } from '../../domain/events/event.ts';
import { eventVersions } from '../../domain/events/schema-version.ts';
import { subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import { logKey, logPrefix } from '../../log/store/keys.ts';
import type { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import { batchOf, never } from '../../log/testing/running-writer.ts';
import { ledgerOf, story } from '../testing/story-ledger.ts';
import { verifyExport } from './verify-ledger.ts';

describe('verifyExport', () => {
  async function* lines(texts: readonly string[]): AsyncIterable<string> {
    yield* texts;
  }
  const textsOf = (ledger: MemoryLedger): string[] =>
    Object.entries(ledger.everything())
      .filter(([key]) => key.startsWith(logPrefix))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, text]) => text);

  it('verifyExport reports no finding for the lines of a correct ledger', async () => {
    const ledger = await ledgerOf(...story);
    const result = await verifyExport(lines(textsOf(ledger)), { signal: never });
    expect(result).to.deep.equal({ head: await ledger.head(never), comparedKeys: undefined, findings: [] });
  });

  for (const version of eventVersions)
    it(`verifyExport reports no finding for events of schema version ${version}`, async () => {
      const file = join(import.meta.dirname, `../../../test/golden/events-v${version}.ndjson`);
      const result = await verifyExport(lines(readFileSync(file, 'utf8').trimEnd().split('\n')), { signal: never });
      expect(result.findings).to.deep.equal([]);
    });

  it('verifyExport reports a missing line and an edited line', async () => {
    const texts = textsOf(await ledgerOf(...story));
    const without = await verifyExport(lines(texts.toSpliced(4, 1)), { signal: never });
    expect(without.findings).to.deep.equal([{ key: logKey(5), what: 'event 5 is missing: the next event is 6' }]);
    const changed = texts.with(4, (texts[4] ?? '').replace('container-of-a', 'container-of-z'));
    const { findings } = await verifyExport(lines(changed), { signal: never });
    expect(findings[0]?.key).to.equal(logKey(6));
  });

  it('verifyExport reports a line that is not an event, and an incomplete last line', async () => {
    const texts = textsOf(await ledgerOf(...story));
    for (const [broken, seq] of [
      [texts.with(4, 'gone'), 5],
      [texts.toSpliced(-1, 1, texts.at(-1)?.slice(0, 9) ?? ''), texts.length],
    ] as const) {
      const { findings, head } = await verifyExport(lines(broken), { signal: never });
      expect(head.seq).to.equal(seq - 1);
      expect(findings.map(({ key }) => key)).to.deep.equal([logKey(seq)]);
    }
  });

  const unloadable: Record<string, Event> = {
    'a Subnet with a slash in its name': { ...subnetConfigured(), subnet: 'a/b' },
    'a Subnet without a name': { ...subnetConfigured(), subnet: '' },
    'an IPPool without a name': {
      type: 'PoolConfigured',
      subnet: 'macvlan',
      data: { pool: '', spec: { subnet: 'macvlan', ips: ['172.17.0.20'], namespaces: [] } },
    },
  };
  const reserved = (subnet: string, address: string): Event => ({
    type: 'AddressReserved',
    subnet,
    data: { addresses: [address], reservedFor: 'vip/x', mac: '', reason: '' },
  });
  unloadable['an address in a Subnet with a slash in its name'] = reserved('a/b', '172.17.0.20');
  for (const address of ['172.17.0.20/16', '', 'a/b', '172.17.0.020', '::FFFF'])
    unloadable[`the address "${address}"`] = reserved('macvlan', address);
  for (const [what, event] of Object.entries(unloadable))
    it(`verifyExport reports ${what}, which no allocator can load`, async () => {
      const ledger = await ledgerOf();
      const added = batchOf(await ledger.head(never), [event]).events.map(({ text }) => text);
      const { findings, head } = await verifyExport(lines([...textsOf(ledger), ...added]), { signal: never });
      expect(findings.map(({ key }) => key)).to.deep.equal([logKey(head.seq + 1)]);
      expect(findings[0]?.what).to.match(/has no name of an? |which is not the text of an address$/);
    });

  it('verifyExport rejects a file that is not an export', async () => {
    const refused = await verifyExport(lines(['hello']), { signal: never }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(IpledgerError).with.property('code', 'INVALID_REQUEST');
  });
});
