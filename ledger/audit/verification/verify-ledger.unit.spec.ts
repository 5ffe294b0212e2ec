import { expect } from 'chai';
import fc from 'fast-check';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { chainEvent } from '../../log/chain/chain.ts';
import { headKey, logKey, logPrefix } from '../../log/store/keys.ts';
import { headText } from '../../log/store/stored-values.ts';
import { MemoryLedger } from '../../log/testing/memory-ledger.ts';
import { applySubnet, bind, smallAttachment, never, release, unbind } from '../../log/testing/running-writer.ts';
import { ledgerOf, story, verify, verifyEdited } from '../testing/story-ledger.ts';

const replaceIn = (key: string, what: string, by: string) => (ledger: MemoryLedger) => {
  const text = ledger.get(key) ?? '';
  expect(text).to.contain(what);
  ledger.put(key, text.replace(what, by));
};

const names = ['a', 'b', 'c', 'd', 'e'];
const anyName = fc.constantFrom(...names);
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  anyName.map((pod) => allocate(pod)),
  anyName.map((pod) => allocate(pod, smallAttachment)),
  fc.tuple(anyName, fc.constantFrom('1', '2')).map(([pod, uid]) => allocate(pod, { mac: '' }, { uid })),
  fc.tuple(anyName, fc.constantFrom(...names)).map(([pod, mac]) => allocate(pod, { mac: `02:00:00:00:00:0${mac}` })),
  fc.tuple(anyName, fc.constantFrom('', '1', '2')).map(([pod, uid]) => release(pod, uid || undefined)),
  anyName.map((pod) => bind(pod)),
  anyName.map((pod) => unbind(pod)),
  fc.constantFrom('172.17.0.11', '172.17.0.12').map((address): Untimed => ({
    type: 'Quarantine',
    subnet: 'macvlan',
    address,
    seenMac: '',
    seenAt: '',
    reason: '',
  })),
  fc
    .constantFrom('172.17.0.11', '172.17.0.12')
    .map((address): Untimed => ({ type: 'Unquarantine', subnet: 'macvlan', address, reason: '' })),
  fc.constantFrom('vip/a', 'pod/default/a/macvlan.default').map((reservedFor): Untimed => ({
    type: 'Reserve',
    subnet: 'macvlan',
    addresses: [],
    reservedFor,
    reason: '',
    mac: '',
    ipFamily: '',
  })),
  fc
    .constantFrom('vip/a', 'pod/default/a/macvlan.default')
    .map((reservedFor): Untimed => ({ type: 'Unreserve', subnet: 'macvlan', addresses: [], reservedFor, reason: '' })),
  fc.constantFrom('10.0.0.0/29', '10.0.0.0/28').map((cidrBlock) => applySubnet('small', { cidrBlock, cooldownMs: 0 })),
  fc.constant<Untimed>({ type: 'RetireSubnet', name: 'small' }),
);

describe('verifyLedger', () => {
  it('verifyLedger reports no finding after any commands, if no other program writes', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { maxLength: 40, size: 'max' }), async (commands) => {
        const ledger = await ledgerOf(...commands);
        const { findings, head, comparedKeys } = await verify(ledger);
        expect(findings).to.deep.equal([]);
        expect(head).to.deep.equal(await ledger.head(never));
        expect(comparedKeys).to.be.at.least(2);
      }),
      { numRuns: 60 },
    );
  });

  it('verifyLedger reports no finding in an empty ledger, even with the keys of replicas', async () => {
    const ledger = new MemoryLedger();
    expect(await verify(ledger)).to.deep.include({ findings: [], comparedKeys: 0 });
    ledger.put('/ipledger/v1/member/a', '{}');
    ledger.put('/ipledger/v1/writer', '{"replica":"a","address":"127.0.0.1:7411"}');
    expect(await verify(ledger)).to.deep.include({ findings: [], comparedKeys: 2 });
  });

  const edits: Record<string, [edit: (ledger: MemoryLedger) => void, key: string, what: RegExp]> = {
    'an edited event': [
      replaceIn(logKey(4), 'uid-a', 'uid-z'),
      logKey(5),
      /^event 5 does not follow event 4: the hash of that event is [0-9a-f]{64}, but this one has [0-9a-f]{64}. One of/,
    ],
    'an edit of the last event': [
      replaceIn(logKey(9), 'uid-c', 'uid-z'),
      logKey(9),
      /^event 9 differs from the head: its hash is/,
    ],
    'a removed event': [(ledger) => ledger.remove(logKey(5)), logKey(5), /^event 5 is missing: the next event is 6$/],
    'a removed last event': [
      (ledger) => ledger.remove(logKey(9)),
      logKey(9),
      /^event 9 is missing: the log ends here, but the head has 9 events$/,
    ],
    'an event after the head': [
      (ledger) => ledger.put('/ipledger/v1/head', ledger.get('/ipledger/v1/head')?.replace('"seq":9', '"seq":8') ?? ''),
      logKey(9),
      /^event 9 is after the head$/,
    ],
    'two swapped events': [
      (ledger) => {
        const [five, six] = [ledger.get(logKey(5)), ledger.get(logKey(6))];
        ledger.put(logKey(5), six ?? '');
        ledger.put(logKey(6), five ?? '');
      },
      logKey(5),
      /^event 5 has the number 6$/,
    ],
    'a line that is not an event': [
      (ledger) => ledger.put(logKey(5), '{}'),
      logKey(5),
      /^a line of the log is not an event: \{\}$/,
    ],
    'a key in the log that is not a log key': [
      (ledger) => ledger.put(`${logPrefix}5`, '{}'),
      `${logPrefix}5`,
      /^it is not a log key/,
    ],
    'an edited claim': [
      replaceIn('/ipledger/v1/addr/macvlan/172.17.0.12', 'uid-b', 'uid-z'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^holder.uid is "uid-z", but according to the log "uid-b"$/,
    ],
    'a claim with another field': [
      replaceIn('/ipledger/v1/addr/macvlan/172.17.0.12', '{', '{"more":1,'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^more is 1, but according to the log absent$/,
    ],
    'a claim that is not JSON': [
      (ledger) => ledger.put('/ipledger/v1/addr/macvlan/172.17.0.12', 'gone'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^the value is not JSON: gone$/,
    ],
    'a removed claim': [
      (ledger) => ledger.remove('/ipledger/v1/addr/macvlan/172.17.0.11'),
      '/ipledger/v1/addr/macvlan/172.17.0.11',
      /^it is missing: event 8 was the last to change it$/,
    ],
    'a claim that does not follow from the log': [
      (ledger) => ledger.put('/ipledger/v1/addr/macvlan/172.17.0.99', '{"last":1}'),
      '/ipledger/v1/addr/macvlan/172.17.0.99',
      /^it does not follow from the log: another program wrote it$/,
    ],
    'a forged claim of an address that another Pod holds on the same network': [
      (ledger) => {
        const text = ledger.get('/ipledger/v1/addr/macvlan/172.17.0.12') ?? '';
        const forged = text.replaceAll('"pod":"b"', '"pod":"forged"').replace('"alloc":6', '"alloc":99');
        ledger.put('/ipledger/v1/addr/overlay/172.17.0.12', forged);
      },
      '/ipledger/v1/addr/overlay/172.17.0.12',
      /: 172\.17\.0\.12 on network macvlan\.default is held twice, by Pod default\/forged and, from subnet macvlan, by Pod default\/b$/,
    ],
    'an unknown key': [
      (ledger) => ledger.put('/ipledger/v1/note', 'hello'),
      '/ipledger/v1/note',
      /^ipledger has no such key/,
    ],
    'an unreadable writer key': [
      (ledger) => ledger.put('/ipledger/v1/writer', 'gone'),
      '/ipledger/v1/writer',
      /^it names no replica/,
    ],
    'a freeze without a position': [
      (ledger) => ledger.put('/ipledger/v1/frozen', '{}'),
      '/ipledger/v1/frozen',
      /^it is not a freeze reason/,
    ],
    'an edited Subnet': [
      replaceIn('/ipledger/v1/subnet/macvlan', '172.17.0.1"', '172.17.0.2"'),
      '/ipledger/v1/subnet/macvlan',
      /^spec.gateway is "172.17.0.2", but according to the log "172.17.0.1"$/,
    ],
    'an edited head': [
      replaceIn('/ipledger/v1/head', '"epoch":1', '"epoch":2'),
      '/ipledger/v1/head',
      /^epoch is 2, but according to the log 1$/,
    ],
    'a replay that has not ended': [
      replaceIn('/ipledger/v1/head', '"}', '","claims":125}'),
      '/ipledger/v1/head',
      /^a replay is in progress, or was interrupted: .* ipledger replay --resume/,
    ],
    'a removed head': [
      (ledger) => ledger.remove('/ipledger/v1/head'),
      '/ipledger/v1/head',
      /^it is missing, but there are 9 events$/,
    ],
  };
  for (const [name, [edit, key, what]] of Object.entries(edits))
    it(`verifyLedger reports ${name}`, async () => {
      const { findings } = await verifyEdited(edit);
      expect(findings.map((finding) => finding.key)).to.deep.equal([key]);
      expect(findings[0]?.what).to.match(what);
    });

  it('verifyLedger returns the expected value of a key, but not of the head, which advances', async () => {
    const ledger = await ledgerOf(...story);
    const key = '/ipledger/v1/addr/macvlan/172.17.0.11';
    const text = ledger.get(key) ?? '';
    for (const damage of [() => ledger.put(key, '{}'), () => ledger.remove(key)]) {
      damage();
      const { findings } = await verify(ledger);
      expect(findings.map(({ expected }) => expected)).to.deep.equal([text]);
    }
    ledger.put(key, text);
    ledger.put(headKey, (ledger.get(headKey) ?? '').replace('"epoch":1', '"epoch":2'));
    const { findings } = await verify(ledger);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.not.have.property('expected');
  });

  it('verifyLedger reports no finding for another layout of the same value', async () => {
    const { findings } = await verifyEdited((ledger) => {
      const key = '/ipledger/v1/addr/macvlan/172.17.0.12';
      ledger.put(key, JSON.stringify(JSON.parse(ledger.get(key) ?? ''), null, 2));
    });
    expect(findings).to.deep.equal([]);
  });

  it('verifyLedger reports the first 100 wrong keys, even if very many keys are missing', async () => {
    const ledger = await ledgerOf(applySubnet('wide', { cidrBlock: '10.8.0.0/13' }));
    const before = await ledger.head(never);
    let after = before;
    for (let block = 0; block < 600; block++) {
      const addresses = Array.from({ length: 250 }, (_, host) => `10.${8 + (block >> 8)}.${block & 255}.${host + 2}`);
      const data = { addresses, reservedFor: `vip/${block}`, reason: '', mac: '' };
      const wrapping = { id: '', command: '', actor: 'spec', at: before.at, clock: before.at, part: [1, 1] } as const;
      const touched = Object.fromEntries(addresses.map((address) => [address, 0]));
      const next = chainEvent(
        after,
        { type: 'AddressReserved', subnet: 'wide', data },
        { ...wrapping, before: touched },
      );
      ledger.put(logKey(next.head.seq), next.stored.text);
      after = next.head;
    }
    ledger.put(headKey, headText(after));
    const { head, findings } = await verify(ledger);
    expect(head.seq).to.equal(after.seq);
    expect(findings).to.have.length(100);
    expect(findings[0]?.what).to.equal('it is missing: event 5 was the last to change it');
  });

  it('verifyLedger returns the last correct event of a damaged log, and compares no other keys', async () => {
    const { head, comparedKeys } = await verifyEdited((ledger) => ledger.remove(logKey(5)));
    expect(head.seq).to.equal(4);
    expect(comparedKeys).to.equal(undefined);
  });
});
