import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { IpledgerError } from '../../../lib/errors.ts';
import { allocate, type Untimed } from '../domain/specification.ts';
import { chain } from '../ledger/chain.ts';
import { headKey, headText, logKey, logPrefix } from '../ledger/keys.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import {
  applySubnet,
  ask,
  bind,
  carryOut,
  createLedger,
  inSmall,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../ledger/specification.ts';
import { eventVersions } from '../ledger/upcast.ts';
import { type Verdict, verifyKeys, verifyLines } from './verify.ts';

/** A ledger that was told all of this, what it refuses included. */
async function ledgerOf(...commands: readonly Untimed[]): Promise<MemoryLedger> {
  const memory = new MemoryLedger(undefined, 3);
  const working = await startWriter(memory);
  await carryOut(working.writer, createLedger(), macvlan, small);
  for (const command of commands)
    await working.writer.submit(ask(command)).catch((error: unknown) => {
      if (IpledgerError.from(error).kind === 'bug') throw error;
    });
  await working.stop();
  return memory;
}

const verify = (ledger: MemoryLedger): Promise<Verdict> => verifyKeys(ledger, { signal: never });

/** One of everything: 9 events. */
const story = [allocate('a'), bind('a'), allocate('b'), release('a'), unbind('a'), allocate('c')];

/** The ledger of the story after something else wrote to it. */
async function edited(edit: (ledger: MemoryLedger) => void): Promise<Verdict> {
  const ledger = await ledgerOf(...story);
  edit(ledger);
  return await verify(ledger);
}

const replaceIn = (key: string, what: string, by: string) => (ledger: MemoryLedger) => {
  const text = ledger.get(key) ?? '';
  expect(text).to.contain(what);
  ledger.put(key, text.replace(what, by));
};

const names = ['a', 'b', 'c', 'd', 'e'];
const anyName = fc.constantFrom(...names);
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  anyName.map((pod) => allocate(pod)),
  anyName.map((pod) => allocate(pod, inSmall)),
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
    .map((address): Untimed => ({ type: 'Lift', subnet: 'macvlan', address, reason: '' })),
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

describe('Verification', () => {
  it('accuses no ledger that nothing else wrote to, whatever it was told', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { maxLength: 40 }), async (commands) => {
        const ledger = await ledgerOf(...commands);
        const { findings, head, keys } = await verify(ledger);
        expect(findings).to.deep.equal([]);
        expect(head).to.deep.equal(await ledger.head(never));
        expect(keys).to.be.at.least(2);
      }),
      { numRuns: 60 },
    );
  });

  it('accuses no empty ledger, and none in which nothing but its replicas stands', async () => {
    const ledger = new MemoryLedger();
    expect(await verify(ledger)).to.deep.include({ findings: [], keys: 0 });
    ledger.put('/ipledger/v1/member/a', '{}');
    ledger.put('/ipledger/v1/writer', '{"replica":"a","address":"127.0.0.1:7411"}');
    expect(await verify(ledger)).to.deep.include({ findings: [], keys: 2 });
  });

  const edits: Record<string, [edit: (ledger: MemoryLedger) => void, key: string, what: RegExp]> = {
    'an event that was edited': [
      replaceIn(logKey(4), 'uid-a', 'uid-z'),
      logKey(5),
      /^event 5 does not follow event 4: that one's bytes hash to [0-9a-f]{64}, and it names [0-9a-f]{64}. One of/,
    ],
    'the last event, edited': [
      replaceIn(logKey(9), 'uid-c', 'uid-z'),
      logKey(9),
      /^event 9 is not the one that the head tells of: its bytes hash to/,
    ],
    'an event that was removed': [
      (ledger) => ledger.remove(logKey(5)),
      logKey(5),
      /^event 5 is missing: the next one there is 6$/,
    ],
    'a log whose tail was cut': [
      (ledger) => ledger.remove(logKey(9)),
      logKey(9),
      /^event 9 is missing: the log ends here, and the head tells of 9 events$/,
    ],
    'an event behind the head': [
      (ledger) => ledger.put('/ipledger/v1/head', ledger.get('/ipledger/v1/head')?.replace('"seq":9', '"seq":8') ?? ''),
      logKey(9),
      /^event 9 stands behind the head$/,
    ],
    'events that were swapped': [
      (ledger) => {
        const [five, six] = [ledger.get(logKey(5)), ledger.get(logKey(6))];
        ledger.put(logKey(5), six ?? '');
        ledger.put(logKey(6), five ?? '');
      },
      logKey(5),
      /^event 5 says that it is event 6, where 5 stands$/,
    ],
    'a line that is no event': [
      (ledger) => ledger.put(logKey(5), '{}'),
      logKey(5),
      /^a line of the log is no event: \{\}$/,
    ],
    'a key of the log that is none': [
      (ledger) => ledger.put(`${logPrefix}5`, '{}'),
      `${logPrefix}5`,
      /^it is no key of the log/,
    ],
    'a claim that was edited': [
      replaceIn('/ipledger/v1/addr/macvlan/172.17.0.12', 'uid-b', 'uid-z'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^holder.uid is "uid-z", by the log it is "uid-b"$/,
    ],
    'a claim that was added to': [
      replaceIn('/ipledger/v1/addr/macvlan/172.17.0.12', '{', '{"more":1,'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^more is 1, by the log it is not there$/,
    ],
    'a claim that is no JSON': [
      (ledger) => ledger.put('/ipledger/v1/addr/macvlan/172.17.0.12', 'gone'),
      '/ipledger/v1/addr/macvlan/172.17.0.12',
      /^it is no JSON: gone$/,
    ],
    'a claim that was removed': [
      (ledger) => ledger.remove('/ipledger/v1/addr/macvlan/172.17.0.11'),
      '/ipledger/v1/addr/macvlan/172.17.0.11',
      /^it is missing: event 8 is the last to speak of it$/,
    ],
    'a claim that nobody made': [
      (ledger) => ledger.put('/ipledger/v1/addr/macvlan/172.17.0.99', '{"last":1}'),
      '/ipledger/v1/addr/macvlan/172.17.0.99',
      /^the log says nothing of it: something else than ipledger put it there$/,
    ],
    'a claim that somebody made of an address that another Pod holds on the same network': [
      (ledger) => {
        const text = ledger.get('/ipledger/v1/addr/macvlan/172.17.0.12') ?? '';
        const forged = text.replaceAll('"pod":"b"', '"pod":"forged"').replace('"alloc":6', '"alloc":99');
        ledger.put('/ipledger/v1/addr/overlay/172.17.0.12', forged);
      },
      '/ipledger/v1/addr/overlay/172.17.0.12',
      /: 172\.17\.0\.12 on network macvlan\.default is held twice, by Pod default\/forged and, from subnet macvlan, by Pod default\/b$/,
    ],
    'a key that is not of ours': [
      (ledger) => ledger.put('/ipledger/v1/note', 'hello'),
      '/ipledger/v1/note',
      /^ipledger has no such key/,
    ],
    'a writer that is none': [
      (ledger) => ledger.put('/ipledger/v1/writer', 'gone'),
      '/ipledger/v1/writer',
      /^it names no replica/,
    ],
    'a freeze that says nothing': [
      (ledger) => ledger.put('/ipledger/v1/frozen', '{}'),
      '/ipledger/v1/frozen',
      /^it does not say what is remembered/,
    ],
    'a subnet that was edited': [
      replaceIn('/ipledger/v1/subnet/macvlan', '172.17.0.1"', '172.17.0.2"'),
      '/ipledger/v1/subnet/macvlan',
      /^spec.gateway is "172.17.0.2", by the log it is "172.17.0.1"$/,
    ],
    'a head that was edited': [
      replaceIn('/ipledger/v1/head', '"epoch":1', '"epoch":2'),
      '/ipledger/v1/head',
      /^epoch is 2, by the log it is 1$/,
    ],
    'a head that is gone': [
      (ledger) => ledger.remove('/ipledger/v1/head'),
      '/ipledger/v1/head',
      /^it is missing, and there are 9 events$/,
    ],
  };
  for (const [name, [edit, key, what]] of Object.entries(edits))
    it(`finds ${name}`, async () => {
      const { findings } = await edited(edit);
      expect(findings.map((finding) => finding.key)).to.deep.equal([key]);
      expect(findings[0]?.what).to.match(what);
    });

  it('says what belongs there: put back, all is right again; not of the head, which goes on', async () => {
    const ledger = await ledgerOf(...story);
    const key = '/ipledger/v1/addr/macvlan/172.17.0.11';
    const text = ledger.get(key) ?? '';
    for (const harm of [() => ledger.put(key, '{}'), () => ledger.remove(key)]) {
      harm();
      const { findings } = await verify(ledger);
      expect(findings.map(({ expected }) => expected)).to.deep.equal([text]);
    }
    ledger.put(key, text);
    ledger.put(headKey, (ledger.get(headKey) ?? '').replace('"epoch":1', '"epoch":2'));
    const { findings } = await verify(ledger);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.not.have.property('expected');
  });

  it('accuses nobody of another layout of the same value', async () => {
    const { findings } = await edited((ledger) => {
      const key = '/ipledger/v1/addr/macvlan/172.17.0.12';
      ledger.put(key, JSON.stringify(JSON.parse(ledger.get(key) ?? ''), null, 2));
    });
    expect(findings).to.deep.equal([]);
  });

  describe('of keys that a version wrote which did not note networks, the Pod of a release and superseded uids', () => {
    const [key, bKey] = ['/ipledger/v1/addr/macvlan/172.17.0.11', '/ipledger/v1/addr/macvlan/172.17.0.12'];
    const again = (uid: string) => allocate('a', { candidates: [['172.17.0.11']] }, { uid });
    const replaced = [again('1'), release('a', '1'), again('2'), release('a', '2'), again('3'), release('a', '3')];
    const cooled = applySubnet('macvlan', {
      cidrBlock: '172.17.0.0/16',
      excludeIps: ['172.17.0.0..172.17.0.10'],
      cooldownMs: 0,
    });
    /** A ledger in which uids 1 and 2 were superseded at .11, which then was released unless `held`, and b has .12. */
    async function verdictOf(held: boolean, change: (claim: Stored) => void, of = key): Promise<Verdict> {
      const ledger = await ledgerOf(
        cooled,
        ...replaced,
        ...(held ? [again('4'), again('5'), again('6')] : []),
        allocate('b', { candidates: [['172.17.0.12']] }),
      );
      const claim = JSON.parse(ledger.get(of) ?? '') as Stored;
      change(claim);
      ledger.put(of, JSON.stringify(claim));
      return await verify(ledger);
    }
    interface Stored {
      networks?: string[];
      released?: { pod?: string };
      holder?: { superseded?: string[] };
    }

    const older: Record<string, [held: boolean, change: (claim: Stored) => void]> = {
      'none of them': [
        true,
        (claim) => {
          delete claim.networks;
          delete claim.holder?.superseded;
          delete claim.released?.pod;
        },
      ],
      'the networks alone, since a later version wrote it again': [
        true,
        (claim) => {
          delete claim.holder?.superseded;
          delete claim.released?.pod;
        },
      ],
      'the networks, and not the Pod of the release': [false, (claim) => delete claim.released?.pod],
      'the superseded uids that it could know': [true, (claim) => claim.holder?.superseded?.shift()],
    };
    for (const [what, [held, change]] of Object.entries(older))
      it(`accuses none that says ${what}`, async () => {
        expect((await verdictOf(held, change)).findings).to.deep.equal([]);
      });

    const forged: Record<string, [change: (claim: Stored) => void, what: RegExp]> = {
      'no network': [(claim) => (claim.networks = []), /^networks\.0 is not there/],
      'another network': [
        (claim) => (claim.networks = ['san']),
        /^networks\.0 is "san", by the log it is "macvlan\.default"$/,
      ],
      'a network more': [(claim) => claim.networks?.push('san'), /^networks\.1 is "san", by the log it is not there$/],
      'a uid more': [
        (claim) => (claim.holder = { ...claim.holder, superseded: ['9'] }),
        /^holder\.superseded is \["9"\], by the log it is not there$/,
      ],
    };
    for (const [what, [change, says]] of Object.entries(forged))
      it(`finds one that says ${what}`, async () => {
        const { findings } = await verdictOf(false, change, bKey);
        expect(findings.map((finding) => finding.key)).to.deep.equal([bKey]);
        expect(findings[0]?.what).to.match(says);
      });
  });

  it('names the first of the keys that are wrong, also where all of very many are gone', async () => {
    const ledger = await ledgerOf(applySubnet('wide', { cidrBlock: '10.8.0.0/13' }));
    const before = await ledger.head(never);
    let after = before;
    for (let block = 0; block < 600; block++) {
      const addresses = Array.from({ length: 250 }, (_, host) => `10.${8 + (block >> 8)}.${block & 255}.${host + 2}`);
      const data = { addresses, reservedFor: `vip/${block}`, reason: '', mac: '' };
      const wrapping = { id: '', command: '', actor: 'spec', at: before.at, clock: before.at, part: [1, 1] } as const;
      const touched = Object.fromEntries(addresses.map((address) => [address, 0]));
      const next = chain(after, { type: 'AddressReserved', subnet: 'wide', data }, { ...wrapping, before: touched });
      ledger.put(logKey(next.head.seq), next.stored.text);
      after = next.head;
    }
    ledger.put(headKey, headText(after));
    const { head, findings } = await verify(ledger);
    expect(head.seq).to.equal(after.seq);
    expect(findings).to.have.length(100);
    expect(findings[0]?.what).to.equal('it is missing: event 5 is the last to speak of it');
  });

  it('tells where it stopped, and compares no keys with what is not whole', async () => {
    const verdict = await edited((ledger) => ledger.remove(logKey(5)));
    expect(verdict.head.seq).to.equal(4);
    expect(verdict.keys).to.equal(undefined);
  });

  describe('of an export', () => {
    async function* lines(texts: readonly string[]): AsyncIterable<string> {
      yield* texts;
    }
    const textsOf = (ledger: MemoryLedger): string[] =>
      Object.entries(ledger.everything())
        .filter(([key]) => key.startsWith(logPrefix))
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([, text]) => text);

    it('needs nothing but its lines', async () => {
      const ledger = await ledgerOf(...story);
      const verdict = await verifyLines(lines(textsOf(ledger)), { signal: never });
      expect(verdict).to.deep.equal({ head: await ledger.head(never), keys: undefined, findings: [] });
    });

    for (const version of eventVersions)
      it(`accuses none of schema version ${version}`, async () => {
        const file = join(import.meta.dirname, `../../../test/golden/events-v${version}.ndjson`);
        const verdict = await verifyLines(lines(readFileSync(file, 'utf8').trimEnd().split('\n')), { signal: never });
        expect(verdict.findings).to.deep.equal([]);
      });

    it('finds a line that was left out, and one that was edited', async () => {
      const texts = textsOf(await ledgerOf(...story));
      const without = await verifyLines(lines(texts.toSpliced(4, 1)), { signal: never });
      expect(without.findings).to.deep.equal([{ key: logKey(5), what: 'event 5 is missing: the next one there is 6' }]);
      const changed = texts.with(4, (texts[4] ?? '').replace('container-of-a', 'container-of-z'));
      const { findings } = await verifyLines(lines(changed), { signal: never });
      expect(findings[0]?.key).to.equal(logKey(6));
    });

    it('finds a line that is no event any more, and where it was broken off', async () => {
      const texts = textsOf(await ledgerOf(...story));
      for (const [broken, seq] of [
        [texts.with(4, 'gone'), 5],
        [texts.toSpliced(-1, 1, texts.at(-1)?.slice(0, 9) ?? ''), texts.length],
      ] as const) {
        const { findings, head } = await verifyLines(lines(broken), { signal: never });
        expect(head.seq).to.equal(seq - 1);
        expect(findings.map(({ key }) => key)).to.deep.equal([logKey(seq)]);
      }
    });

    it('is refused for a file that is something else', async () => {
      const refused = await verifyLines(lines(['hello']), { signal: never }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(IpledgerError).with.property('code', 'INVALID_REQUEST');
    });
  });
});
