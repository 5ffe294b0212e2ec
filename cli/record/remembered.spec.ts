import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Allocator } from '../allocator.ts';
import { rememberedIn } from './remembered.ts';

interface Event {
  readonly type: string;
  readonly subnet: string;
  readonly data: object;
}

const created: Event = { type: 'LedgerCreated', subnet: '', data: { ledger: 'ledger' } };
const reserved: Event = {
  type: 'AddressReserved',
  subnet: 'lan',
  data: { addresses: ['10.0.0.5'], reservedFor: 'vip/printer', reason: "floor 3's", mac: '02:00:00:00:00:0a' },
};
const cancelled: Event = {
  type: 'ReservationCancelled',
  subnet: 'lan',
  data: { addresses: ['10.0.0.5'], reservedFor: 'vip/printer', reason: 'sold' },
};
const quarantined: Event = {
  type: 'AddressQuarantined',
  subnet: 'lan',
  data: { address: '10.0.0.6', seenMac: '', seenAt: 'rack 7', reason: 'odd ARP' },
};
const lifted: Event = { type: 'QuarantineLifted', subnet: 'lan', data: { address: '10.0.0.6', reason: 'found' } };
const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: { source: { uid: 'u', generation: 1 } } };

/** Lines of a chain, as they are stored. */
function linesOf(...events: readonly Event[]): string[] {
  let prev = '';
  return events.map(({ type, subnet, data }, index) => {
    const place = { v: 4, seq: index + 1, id: 'id', cmd: 'cmd', part: [1, 1], type, subnet };
    const line = JSON.stringify({ ...place, at: '2026-11-17T14:05:00.000Z', actor: 'anna', data, before: {}, prev });
    prev = hash('sha256', line);
    return line;
  });
}

describe('What an export remembers that a restored ledger lacks', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-remembered-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** @param ledger lines that the ledger has. */
  function remembered(exported: readonly string[], ledger: readonly string[]) {
    const file = join(folder, 'export.ndjson');
    writeFileSync(file, exported.map((line) => `${line}\n`).join(''));
    const allocator = {
      async *listen(_method: unknown, { fromSeq }: { readonly fromSeq: number }) {
        yield { lines: ledger.slice(fromSeq - 1) };
      },
    };
    return rememberedIn(file, allocator as unknown as Allocator);
  }

  it('is told as the commands that do again what was done by hand, in its order', async () => {
    const exported = linesOf(created, reserved, cancelled, quarantined, lifted, retired);
    const { types, commands } = await remembered(exported, exported.slice(0, 1));
    expect(types).to.deep.equal({
      AddressReserved: 1,
      ReservationCancelled: 1,
      AddressQuarantined: 1,
      QuarantineLifted: 1,
      SubnetRetired: 1,
    });
    const event = (seq: number): string => `  # event ${seq}, 2026-11-17T14:05:00.000Z, by anna`;
    expect(commands).to.deep.equal([
      `ipledger reserve 10.0.0.5 --for vip/printer --mac 02:00:00:00:00:0a --subnet lan --reason 'floor 3'\\''s'${event(2)}`,
      `ipledger unreserve 10.0.0.5 --for vip/printer --yes --subnet lan --reason sold${event(3)}`,
      `ipledger quarantine 10.0.0.6 --seen-at 'rack 7' --subnet lan --reason 'odd ARP'${event(4)}`,
      `ipledger lift 10.0.0.6 --yes --subnet lan --reason found${event(5)}`,
    ]);
  });

  it('begins where the ledger says something else', async () => {
    const exported = linesOf(created, reserved, quarantined);
    const { commands } = await remembered(exported, linesOf(created, reserved, retired, lifted));
    expect(commands).to.have.length(1);
    expect(commands[0]).to.contain('quarantine');
  });

  it('is nothing where the ledger has all of it', async () => {
    const exported = linesOf(created, reserved);
    expect(await remembered(exported, [...exported, 'more'])).to.deep.equal({ types: {}, commands: [] });
  });

  it('is not believed of a file that has nothing in common with the ledger, or was altered', async () => {
    const failure = (ended: Promise<unknown>): Promise<unknown> => ended.catch((error: unknown) => error);
    const other = linesOf({ ...created, data: { ledger: 'another' } }, reserved);
    expect(await failure(remembered(other, linesOf(created))))
      .to.have.property('message')
      .that.contains('no event in common');
    const [first = '', second = '', third = ''] = linesOf(created, reserved, quarantined);
    expect(await failure(remembered([first, second.replace('vip/printer', 'vip/other'), third], [first])))
      .to.have.property('message')
      .that.contains('event 3 does not follow');
  });
});
