import { expect } from 'chai';
import fc from 'fast-check';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation, Binding, Claim } from '../../domain/state/claim.ts';
import type { Attachment } from '../../domain/values/allocation.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import type { ConfiguredSubnet } from '../../domain/state/state.ts';
import { addressKey, poolKey, subnetKey } from './keys.ts';
import {
  claimText,
  configuredSubnetText,
  epochPrefix,
  expectedClaimText,
  freezeText,
  headText,
  nextFreezeText,
  parseClaim,
  parseFreeze,
  parseAnyHead,
  parseHead,
  parsePool,
  parseSubnet,
  readClaim,
  poolText,
  subnetText,
} from './stored-values.ts';

const name = { subnet: 'macvlan', address: '172.17.0.11' };
const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const anySeq = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anyInstant = fc.integer({ min: 0, max: Date.parse('2999-12-31T23:59:59.999Z') });
const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });

const anyAttachment: fc.Arbitrary<Attachment> = fc.record({
  namespace: anyText,
  pod: anyText,
  provider: anyText,
  ordinal: fc.nat(23),
});
const anyBinding: fc.Arbitrary<Binding> = fc.record({
  alloc: anySeq,
  attachment: anyAttachment,
  containerId: anyText,
  interface: anyText,
  node: anyText,
  bootId: anyText,
  at: anyInstant,
});
const anyAllocation: fc.Arbitrary<Allocation> = fc
  .record({
    attachment: anyAttachment,
    uid: anyText,
    owner: optional(fc.record({ kind: anyText, name: anyText, uid: anyText })),
    node: anyText,
    addresses: fc.array(fc.record({ address: fc.ipV4(), cidr: anyText, gateway: anyText }), { maxLength: 2 }),
    mac: anyText,
    interface: anyText,
    cause: fc.constantFrom('dynamic', 'static', 'pool', 'reservation', 'import'),
    routes: fc.array(fc.record({ dst: anyText, gw: anyText }), { maxLength: 3 }),
    defaultRoute: optional(fc.boolean()),
    seq: anySeq,
    at: anyInstant,
  })
  .map(({ owner, defaultRoute, ...rest }) => ({
    ...rest,
    subnet: name.subnet,
    ...(owner && { owner }),
    ...(defaultRoute !== undefined && { defaultRoute }),
  }));
const anyClaim: fc.Arbitrary<Claim> = fc
  .record({
    last: anySeq,
    lastAt: anyInstant,
    networks: fc.array(anyText, { maxLength: 2 }),
    allocation: optional(anyAllocation),
    bindings: fc.array(anyBinding, { maxLength: 3 }),
    released: optional(fc.record({ seq: anySeq, at: anyInstant, uid: anyText })),
    reservation: optional(
      fc.record({ reservedFor: anyText, reason: anyText, mac: anyText, seq: anySeq, at: anyInstant }),
    ),
    quarantine: optional(
      fc.record({ seenMac: anyText, seenAt: anyText, reason: anyText, seq: anySeq, at: anyInstant }),
    ),
  })
  .map(({ allocation, released, reservation, quarantine, ...rest }) => ({
    ...rest,
    ...(reservation && { reservation }),
    ...(quarantine && { quarantine }),
    ...(allocation && { allocation }),
    ...(released && { released }),
  }));

/** The message of the LEDGER_DAMAGED error that `read` throws. */
const damageMessage = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    expect(error).to.have.property('code', 'LEDGER_DAMAGED');
    return (error as Error).message;
  }
  throw new Error('read without an error');
};

describe('The value of a claim key', () => {
  it('The value of a claim key holds the complete claim in one line', () => {
    fc.assert(
      fc.property(anyClaim, (claim) => {
        const text = claimText(claim);
        expect(parseClaim(name, text)).to.deep.equal(claim);
        expect(text).to.not.match(/[\n\r]/);
      }),
    );
  });

  it('The value of a claim key stores `alloc` beside the holder, and times as text', () => {
    const released = { seq: 9, at: 0, uid: 'uid-of-a-pod' };
    const claim: Claim = { last: 9, lastAt: 0, networks: ['lan.default'], bindings: [], released };
    expect(claimText(claim)).to.equal(
      '{"last":9,"at":"1970-01-01T00:00:00.000Z","networks":["lan.default"],"bindings":[],"released":{"seq":9,"at":"1970-01-01T00:00:00.000Z","uid":"uid-of-a-pod"}}',
    );
  });

  it('The value of a claim key may list a part of the networks, as early versions did, but no other networks', () => {
    const claim: Claim = { last: 9, lastAt: 0, networks: ['other.default', 'lan.default'], bindings: [] };
    const expectedOf = (networks: string[]) =>
      JSON.parse(expectedClaimText(claimText({ ...claim, networks }), claim)) as Claim;
    expect(expectedOf(['other.default']).networks).to.deep.equal(['other.default']);
    for (const networks of [[], ['san'], ['other.default', 'san'], ['lan.default', 'lan.default', 'san']])
      expect(expectedOf(networks).networks).to.deep.equal(claim.networks);
  });

  const at = '2026-01-31T08:00:00.000Z';
  const attachment = { namespace: 'default', pod: 'a', provider: 'lan.default', ordinal: 0 };

  it('The value of a claim key may lack what early versions did not store, and may have the superseded uids of some', () => {
    const release = { seq: 9, at: Date.parse(at), uid: 'uid-of-a-pod', pod: 'a', mac: '02:00:00:00:00:01' };
    const binding = { alloc: 8, attachment, containerId: 'c', interface: 'net1', node: 'n', bootId: 'b', at: 0 };
    const grant = { attachment, uid: 'u', node: '', mac: '', interface: '', cause: 'dynamic', routes: [] } as const;
    const claim: Claim = {
      last: 9,
      lastAt: 0,
      networks: ['lan.default'],
      allocation: { ...grant, addresses: [], subnet: 'lan', seq: 8, at: 0 },
      bindings: [{ ...binding, mac: '02:00:00:00:00:02' }],
      released: release,
    };
    const stored = JSON.parse(claimText(claim)) as Record<string, unknown>;
    const early = {
      ...stored,
      holder: { ...(stored['holder'] as object), superseded: ['uid-1'] },
      bindings: [{ ...binding, at: '1970-01-01T00:00:00.000Z' }],
      released: { seq: 9, at, uid: 'uid-of-a-pod' },
    };
    const { superseded: _, ...holder } = early.holder as { superseded: unknown };
    const expected = (text: object): unknown => JSON.parse(expectedClaimText(JSON.stringify(text), claim));
    expect(expected(stored)).to.deep.equal(stored);
    expect(expected(early)).to.deep.equal({ ...early, holder });
    const others = { ...early, released: { ...early.released, pod: 'other' }, bindings: [{ ...binding, mac: '' }] };
    expect(expected(others)).to.deep.equal({
      ...early,
      holder,
      released: { ...early.released, pod: 'a' },
      bindings: stored['bindings'],
    });
    expect(expected({ ...early, networks: 7 }), 'networks that are no list').to.have.deep.property('networks', [
      'lan.default',
    ]);
  });

  it('The value of a claim key is rejected with at most 200 of its characters', () => {
    const text = 'x'.repeat(201);
    expect(damageMessage(() => parseClaim(name, text))).to.contain(`claim: ${'x'.repeat(200)}. Another program`);
  });

  it('The value of a claim key is rejected when a field has another type, so that decisions about other addresses do not fail', () => {
    const binding = { alloc: 9, attachment, containerId: 'c', interface: 'net1', node: 'n', bootId: 'b', at };
    const addresses = [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }];
    const texts = { uid: 'u', node: '', mac: '', interface: '', cause: 'dynamic' };
    const holder = { attachment, ...texts, addresses, routes: [], at };
    const claim = { last: 9, at, networks: ['lan.default'], alloc: 9, holder, bindings: [binding] };
    expect(parseClaim(name, JSON.stringify(claim))).to.have.property('last', 9);
    const changes = [
      { holder: { ...holder, attachment: { ...attachment, provider: undefined } } },
      { holder: { ...holder, attachment: { ...attachment, ordinal: 1.5 } } },
      { holder: { ...holder, addresses: [{ address: 7 }] } },
      { holder: { ...holder, routes: { length: 1e9 } } },
      { bindings: [{ ...binding, node: null }] },
      { bindings: { length: 1 } },
      { released: 'yes' },
      { reservation: { reservedFor: ['a'], reason: '', mac: '', seq: 9, at } },
      { quarantine: { seenMac: '', seenAt: '', reason: '', seq: '9', at } },
    ];
    for (const change of changes) {
      const found = readClaim(addressKey(name), JSON.stringify({ ...claim, ...change }));
      expect(found, JSON.stringify(change)).to.deep.equal({ name, claim: undefined });
    }
  });

  it('The value of a claim key is rejected under a key without an address in canonical text', () => {
    const text = claimText({ last: 9, lastAt: 0, networks: ['lan.default'], bindings: [] });
    for (const address of ['172.17.0.011', 'fd00::0:1', 'printer'])
      expect(readClaim(addressKey({ ...name, address }), text).claim, address).to.equal(undefined);
  });

  it('The value of a claim key is rejected with the name of the key when it is not a claim', () => {
    const at = '"at":"2026-01-31T08:00:00.000Z"';
    for (const text of [
      '',
      'null',
      '{}',
      `{"last":"9",${at},"bindings":[]}`,
      `{"last":9,${at}}`,
      '{"last":9,"at":"noon","bindings":[]}',
      `{"last":9,${at},"bindings":[],"holder":{${at}}}`,
      `{"last":9,${at},"bindings":[{"at":""}]}`,
    ])
      expect(damageMessage(() => parseClaim(name, text))).to.equal(
        `the value of /ipledger/v1/addr/macvlan/172.17.0.11 is not a valid claim: ${text}. Another program wrote it. Run: ipledger verify --etcd URLS`,
      );
  });
});

describe('The value of the head key', () => {
  const head: Head = { ledger: '01KG', epoch: 2, seq: 42, hash: 'abc', at: Date.parse('2026-01-31T08:00:00.000Z') };
  const text = '{"ledger":"01KG","epoch":2,"seq":42,"hash":"abc","at":"2026-01-31T08:00:00.000Z"}';

  it('The value of the head key has exactly one text for a head, because appends compare it byte by byte', () => {
    expect(headText(head)).to.equal(text);
    expect(headText({ ...emptyHead, ...head })).to.equal(text);
    expect(parseHead(text)).to.deep.equal(head);
  });

  it('The value of the head key begins with ledger and epoch, by which a freeze recognises its epoch', () => {
    expect(epochPrefix(head)).to.equal('{"ledger":"01KG","epoch":2,');
  });

  it('The value of the head key is refused while a replay has not written all claims, except by the replay', () => {
    const pending = text.replace('}', ',"claims":0}');
    expect(headText({ ...head, claims: 0 })).to.equal(pending);
    expect(parseAnyHead(pending)).to.deep.equal({ ...head, claims: 0 });
    expect(() => parseHead(pending))
      .to.throw(IpledgerError, /^a replay is in progress, or was interrupted: the events up to 42 are written/)
      .with.property('code', 'UNAVAILABLE');
  });

  it('The value of the head key is rejected when its text is not the canonical text', () => {
    for (const other of [
      text.replace('}', ',"claims":"written"}'),
      text.replace('}', ',"claims":null}'),
      text.replaceAll(',', ', '),
      text.replace('.000Z', 'Z'),
      text.replace('"seq":42', '"seq":"42"'),
      text.replace('"hash":"abc"', '"hash":7'),
      text.replace('}', ',"more":1}'),
      '{}',
      'null',
      '',
    ])
      expect(damageMessage(() => parseHead(other))).to.match(
        /^the value of \/ipledger\/v1\/head is not a valid head: /,
      );
  });
});

describe('The value of a Subnet key', () => {
  const spec = {
    cidrBlock: '172.17.0.0/16',
    gateway: '172.17.0.1',
    excludeIps: ['172.17.0.1'],
    provider: 'macvlan.default',
    protocol: 'IPv4',
    cooldownMs: 0,
    bindingTimeoutMs: 0,
  } as const;

  it('The value of a Subnet key holds the spec and its source object', () => {
    const source = { uid: 'uid-of-subnet', generation: 3 };
    const key = subnetKey('macvlan');
    expect(parseSubnet(key, subnetText({ spec, source }))).to.deep.equal({ name: 'macvlan', spec, source });
    expect(parseSubnet(key, subnetText({ spec }))).to.deep.equal({ name: 'macvlan', spec });
    const subnet = { spec } as unknown as ConfiguredSubnet['subnet'];
    expect(configuredSubnetText({ subnet, source })).to.equal(subnetText({ spec, source }));
    expect(configuredSubnetText({ subnet })).to.equal(subnetText({ spec }));
  });

  it('The value of a Subnet key is rejected when it is not a Subnet', () => {
    const changed = [
      { gateway: ['172.17.0.1'] },
      { cidrBlock: 'fd00::/64' },
      { cidrBlock: '172.17.0.0/33' },
      { excludeIps: '172.17.0.1' },
      { cooldownMs: '60' },
      { provider: 7 },
    ].map((change) => JSON.stringify({ spec: { ...spec, ...change } }));
    for (const text of ['', '{}', '{"spec":{}}', ...changed])
      expect(damageMessage(() => parseSubnet(subnetKey('macvlan'), text))).to.contain('/ipledger/v1/subnet/macvlan');
  });
});

describe('The value of a pool key', () => {
  const spec = { subnet: 'macvlan', ips: ['172.17.0.20..172.17.0.30'], namespaces: ['team-a'] };

  it('The value of a pool key holds the spec and its source object', () => {
    const source = { uid: 'uid-of-pool', generation: 3 };
    expect(parsePool(poolKey('blue'), poolText({ spec, source }))).to.deep.equal({ name: 'blue', spec, source });
    expect(parsePool(poolKey('blue'), poolText({ spec }))).to.deep.equal({ name: 'blue', spec });
  });

  it('The value of a pool key is rejected when it is not a pool', () => {
    const lists = [
      '{"spec":{"subnet":"a","ips":[[]],"namespaces":[]}}',
      '{"spec":{"subnet":"a","ips":[],"namespaces":7}}',
    ];
    for (const text of ['', '{}', '{"spec":{"subnet":"macvlan"}}', ...lists])
      expect(damageMessage(() => parsePool(poolKey('blue'), text))).to.contain('/ipledger/v1/pool/blue');
  });
});

describe('The value of the freeze key', () => {
  const frozen = { epoch: 1, seq: 42, hash: 'ab', by: 'ipledger://watcher', at: '2026-01-31T08:00:00.000Z' };

  it('The value of the freeze key holds the missing position and the client that has read it', () => {
    expect(parseFreeze(freezeText(frozen))).to.deep.equal(frozen);
  });

  it('The value of the freeze key is rejected without a position, because the next epoch follows from it', () => {
    for (const text of ['', 'null', '{}', '{"epoch":1}', '{"epoch":"1","seq":2}'])
      expect(() => parseFreeze(text), text).to.throw(
        /^the value of \/ipledger\/v1\/frozen is not a valid freeze reason/,
      );
  });

  it('The value of the freeze key after another report has the later position, and the time and head of the first report', () => {
    const found = { epoch: 1, seq: 40, hash: 'cd', at: frozen.at };
    const first = freezeText({ ...frozen, found });
    const reported = { ...frozen, by: 'ipledger://agent/n', at: '2026-02-01T08:00:00.000Z', found: undefined };
    expect(nextFreezeText(undefined, reported)).to.equal(freezeText(reported));
    for (const [epoch, seq, isLater] of [
      [1, 42, false],
      [1, 41, false],
      [1, 43, true],
      [2, 1, true],
    ] as const)
      expect(nextFreezeText(first, { ...reported, epoch, seq }), `${epoch} ${seq}`).to.equal(
        isLater ? freezeText({ ...reported, epoch, seq, at: frozen.at, found }) : undefined,
      );
    const ofSecond = freezeText({ ...frozen, epoch: 2 });
    expect(nextFreezeText(ofSecond, { ...reported, seq: 99 }), 'of an earlier epoch').to.equal(undefined);
  });
});
