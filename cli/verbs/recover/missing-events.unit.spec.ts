import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { createCommandCheck, shellWords } from '../../testing/verb-parser.ts';
import { findMissingEvents } from './missing-events.ts';

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
const unquarantined: Event = {
  type: 'QuarantineLifted',
  subnet: 'lan',
  data: { address: '10.0.0.6', reason: 'found' },
};
const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: { source: { uid: 'u', generation: 1 } } };

/** The stored lines of a hash chain. */
function createLines(...events: readonly Event[]): string[] {
  let prev = '';
  return events.map(({ type, subnet, data }, index) => {
    const place = { v: 4, seq: index + 1, id: 'id', cmd: 'cmd', part: [1, 1], type, subnet };
    const line = JSON.stringify({ ...place, at: '2026-11-17T14:05:00.000Z', actor: 'anna', data, before: {}, prev });
    prev = hash('sha256', line);
    return line;
  });
}

describe('The missing events of a restored ledger', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-missing-events-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** @param ledger the lines of the ledger. */
  function find(exported: readonly string[], ledger: readonly string[]) {
    const file = join(folder, 'export.ndjson');
    writeFileSync(file, exported.map((line) => `${line}\n`).join(''));
    const allocator = {
      async *stream(_method: unknown, { fromSeq }: { readonly fromSeq: number }) {
        yield { lines: ledger.slice(fromSeq - 1) };
      },
    };
    return findMissingEvents(file, allocator as unknown as LedgerClient);
  }

  it("The missing events of a restored ledger become the commands that repeat the operators' part, in order", async () => {
    const exported = createLines(created, reserved, cancelled, quarantined, unquarantined, retired);
    const { types, commands } = await find(exported, exported.slice(0, 1));
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
      `ipledger quarantine 10.0.0.6 --seen-on 'rack 7' --subnet lan --reason 'odd ARP'${event(4)}`,
      `ipledger unquarantine 10.0.0.6 --yes --subnet lan --reason found${event(5)}`,
    ]);
    const check = await createCommandCheck({ prose: false });
    for (const command of commands) {
      const [, ...words] = shellWords(command.split('  # ', 1)[0] ?? '');
      expect(check(words), command).to.equal(undefined);
    }
  });

  it('The missing events of a restored ledger contribute their allocations, except for released ones', async () => {
    const attachment = { namespace: 'default', pod: 'a', provider: 'lan.default', ordinal: 0 };
    const grant = { attachment, uid: 'uid', node: '', addresses: [{ address: '10.0.0.2', cidr: '', gateway: '' }] };
    const data = { ...grant, mac: '', interface: 'net1', cause: 'dynamic', routes: [] };
    const allocated = { type: 'AddressAllocated', subnet: 'lan', data };
    const other = { ...allocated, data: { ...data, attachment: { ...attachment, pod: 'b' } } };
    const ended = { attachment, uid: 'uid', addresses: ['10.0.0.2'], cause: 'pod-deleted', evidence: '' };
    const released = { type: 'AddressReleased', subnet: 'lan', data: { ...ended, alloc: 2 } };
    const exported = createLines(created, allocated, other, released);
    expect((await find(exported, exported.slice(0, 1))).allocations).to.deep.equal([
      {
        namespace: 'default',
        pod: 'b',
        provider: 'lan.default',
        ordinal: 0,
        uid: 'uid',
        seq: 3,
        subnet: 'lan',
        addresses: ['10.0.0.2'],
        mac: '',
        interface: 'net1',
      },
    ]);
    const transfer = { ...data, alloc: 2, fromUid: 'uid' };
    const transferred = createLines(
      created,
      allocated,
      { ...allocated, type: 'AddressTransferred', data: transfer },
      released,
    );
    expect((await find(transferred, exported.slice(0, 1))).allocations).to.have.length(1);
  });

  it('The missing events of a restored ledger start with the first event that differs', async () => {
    const exported = createLines(created, reserved, quarantined);
    const { commands } = await find(exported, createLines(created, reserved, retired, unquarantined));
    expect(commands).to.have.length(1);
    expect(commands[0]).to.contain('quarantine');
  });

  it('The missing events of a restored ledger are none if the ledger has all events of the export', async () => {
    const exported = createLines(created, reserved);
    expect(await find(exported, [...exported, 'more'])).to.deep.equal({ types: {}, commands: [], allocations: [] });
  });

  it('The missing events of a restored ledger are not read from a file without a common event, or with an altered event', async () => {
    const errorOf = (result: Promise<unknown>): Promise<unknown> => result.catch((error: unknown) => error);
    const other = createLines({ ...created, data: { ledger: 'another' } }, reserved);
    expect(await errorOf(find(other, createLines(created))))
      .to.have.property('message')
      .that.contains('no event in common');
    const [first = '', second = '', third = ''] = createLines(created, reserved, quarantined);
    expect(await errorOf(find([first, second.replace('vip/printer', 'vip/other'), third], [first])))
      .to.have.property('message')
      .that.contains('event 3 does not follow');
  });
});
