/** What a Pod may say at most, and that one which says more costs the others nothing. */
import { expect } from 'chai';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { holding, until } from '../fakes.ts';
import { networksAnnotation, toPod } from '../kubernetes/objects.ts';
import { detachedKeys } from '../projection/detached.ts';
import { key, plan, request, statefulSet } from './plan.fixture.ts';
import { PoolsInForce } from './pools-in-force.ts';
import { macvlan, settled, wanting, worldOf } from './specification.ts';

const times = <T>(count: number, each: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => each(i));
const addresses = (count: number): string[] => times(count, (i) => `10.0.${i >> 8}.${i & 255}`);
const networks = (count: number): string => times(count, () => 'macvlan').join(',');
const json = (element: object): string => JSON.stringify([{ name: 'macvlan', ...element }]);
/** A list of routes that fits. */
const routes = (count: number): string => JSON.stringify(times(count, () => ({ gw: '10.0.0.1' })));

describe('a Pod within its limits', () => {
  it('may ask for 24 attachments', () => {
    expect(plan(networks(24)).attachments).to.have.length(24);
  });

  it('may name 256 addresses to choose from, 64 routes and a CIDR of each family', () => {
    const { attachments, problems } = plan('macvlan', {
      [key('ip_pool')]: addresses(256).join(','),
      [key('routes')]: routes(64),
      [key('cidr')]: '10.0.0.0/8,fd00::/64',
    });
    expect(problems).to.deep.equal([]);
    expect([attachments[0]?.candidates?.length, attachments[0]?.routes?.length]).to.deep.equal([256, 64]);
  });
});

describe('whatever a Pod says', () => {
  const anySize = fc.oneof(fc.nat(10), fc.nat(700));
  const anyText = fc.string({ maxLength: 2_000 });
  const anyPod = fc.record({
    selected: fc.oneof(
      anySize.map(networks),
      anyText,
      anyText.map((name) => json({ name })),
    ),
    pool: fc.oneof(
      anySize.map((count) => addresses(count).join(',')),
      anyText,
    ),
    listed: fc.oneof(anySize.map(routes), anyText),
    cidr: fc.oneof(fc.constant('10.0.0.0/8'), anyText),
  });

  it('what is asked for is within what the allocator takes, and what is refused has a short sentence', () => {
    fc.assert(
      fc.property(anyPod, ({ selected, pool, listed, cidr }) => {
        const annotations = { [key('ip_pool')]: pool, [key('routes')]: listed, [key('cidr')]: cidr };
        const { attachments, problems } = plan(selected, annotations);
        expect(attachments.length).to.be.at.most(24);
        const sizes = attachments.map(({ candidates = [] }) => candidates.length);
        expect(Math.max(0, ...sizes)).to.be.at.most(256);
        expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(1_024);
        expect(attachments.every(({ routes: each = [] }) => each.length <= 64)).to.equal(true);
        expect(problems.every(({ text }) => text.length < 1_000)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a Pod over a limit is asked for nothing and is told which limit:', () => {
  const over: [what: string, networks: string, annotations: Record<string, string>, sentence: string][] = [
    [
      '64,000 networks',
      networks(64_000),
      {},
      `annotation ${networksAnnotation} has 511999 characters, and at most 16384 are taken: shorten it`,
    ],
    ['25 networks', networks(25), {}, 'has 25 networks, and at most 24 are taken: remove some'],
    [
      '25 networks as JSON',
      JSON.stringify(times(25, () => ({ name: 'macvlan' }))),
      {},
      'has 25 networks, and at most 24 are taken: remove some',
    ],
    [
      '24 networks beside the default network',
      networks(24),
      { 'v1.multus-cni.io/default-network': 'macvlan' },
      'has 25 networks (with that of v1.multus-cni.io/default-network), and at most 24 are taken',
    ],
    ['a long element', `${'a'.repeat(400)}/${'b'.repeat(400)}`, {}, 'an element has 801 characters'],
    ['a long name', json({ name: 'a'.repeat(254) }), {}, 'the name of a network has 254 characters'],
    ['a long namespace', json({ namespace: 'a'.repeat(64) }), {}, 'the namespace of network macvlan has 64 characters'],
    ['a long interface', json({ interface: 'a'.repeat(999) }), {}, 'the interface of macvlan has 999 characters'],
    ['a long MAC', json({ mac: 'a'.repeat(65) }), {}, 'mac of macvlan has 65 characters'],
    ['9 ips', json({ ips: addresses(9) }), {}, 'ips of macvlan has 9 addresses, and at most 8 are taken: remove some'],
    ['a long ip', json({ ips: ['1'.repeat(65)] }), {}, 'an address of macvlan has 65 characters'],
    ['9 gateways', json({ 'default-route': addresses(9) }), {}, 'default-route of macvlan has 9 gateways'],
    [
      '9 addresses',
      'macvlan',
      { [key('ip_address')]: addresses(9).join(',') },
      `${key('ip_address')} has 9 addresses, and at most 8 are taken: remove some`,
    ],
    [
      '1,000 CIDRs',
      'macvlan',
      { [key('cidr')]: times(1_000, (i) => `10.${i >> 8}.${i & 255}.0/24`).join(',') },
      `annotation ${key('cidr')} has 13559 characters, and at most 1024 are taken: shorten it`,
    ],
    [
      'two CIDRs of one family',
      'macvlan',
      { [key('cidr')]: '10.0.0.0/8,11.0.0.0/8' },
      `invalid cidr 10.0.0.0/8,11.0.0.0/8: ${key('cidr')} wants one of each family at most`,
    ],
    [
      'three CIDRs',
      'macvlan',
      { [key('cidr')]: '10.0.0.0/8,fd00::/64,fd01::/64' },
      `${key('cidr')} wants one of each family at most`,
    ],
    [
      '257 addresses to choose from',
      'macvlan',
      { [key('ip_pool')]: addresses(257).join(';') },
      `annotation ${key('ip_pool')} has 257 entries, and at most 256 are taken: remove some, or name an IPPool`,
    ],
    [
      '1,280 addresses to choose from for five attachments',
      networks(5),
      { [key('ip_pool')]: addresses(256).join(',') },
      'the Pod has 1280 addresses to choose from for all its attachments, and at most 1024 are taken: shorten the ip_pool annotations, or name an IPPool in them',
    ],
    [
      'a long list',
      'macvlan',
      { [key('ip_pool')]: '1'.repeat(16_385) },
      `annotation ${key('ip_pool')} has 16385 characters`,
    ],
    [
      '65 routes',
      'macvlan',
      { [key('routes')]: routes(65) },
      'it has 65 routes, and at most 64 are taken: remove some',
    ],
    [
      'long routes',
      'macvlan',
      { [key('routes')]: '['.repeat(9_000) },
      `annotation ${key('routes')} has 9000 characters`,
    ],
    [
      'a long value',
      'macvlan',
      { [key('logical_switch')]: 'x'.repeat(1_025) },
      `annotation ${key('logical_switch')} has 1025 characters, and at most 1024 are taken: shorten it`,
    ],
    [
      '24 lists of 256 pairs, before any is read',
      networks(24),
      Object.fromEntries(
        times(24, (i) => [`p${i}.default.kubernetes.io/ip_pool`, times(256, () => '10.0.0.1,fd00::1').join(';')]),
      ),
      'the Pod has 12288 addresses in all its ip_pool annotations, and at most 2048 are taken: shorten them, or name an IPPool in them',
    ],
    [
      'annotations of 66,000 characters together',
      'macvlan',
      Object.fromEntries(times(66, (i) => [`p${i}.default.kubernetes.io/ip_address`, 'x'.repeat(1_000)])),
      'the Pod has 66007 characters in all its annotations about attachments, and at most 65536 are taken: shorten or remove some',
    ],
    [
      '513 annotations',
      'macvlan',
      Object.fromEntries(times(512, (i) => [`p${i}.default.kubernetes.io/ip_address`, 'x'])),
      'the Pod has 513 annotations about attachments, and at most 512 are taken: remove some',
    ],
  ];
  for (const [what, selected, annotations, sentence] of over)
    it(what, () => {
      const { attachments, removed, problems } = plan(selected, annotations);
      expect([attachments, removed, problems.length]).to.deep.equal([[], [], 1]);
      expect(problems[0]).to.include({ about: 'request' });
      expect(problems[0]?.text).to.contain(sentence);
    });

  const references: [what: string, owners: object[], sentence: string][] = [
    ['65 owners', times(65, () => statefulSet), 'metadata.ownerReferences has 65 entries, and at most 64 are taken'],
    [
      'an owner with a long name',
      [{ ...statefulSet, name: 'w'.repeat(254) }],
      'name of the controller in metadata.ownerReferences has 254 characters, and at most 253 are taken',
    ],
  ];
  for (const [what, ownerReferences, sentence] of references)
    it(what, () => {
      const pod = toPod({
        metadata: { name: 'a', uid: 'u', annotations: { [networksAnnotation]: 'macvlan' }, ownerReferences },
      });
      expect(pod.controller).to.equal(undefined);
      expect(pod.problems[0]).to.contain(sentence);
    });

  it('a hash of a static Pod that kubelet does not make, which counts for nothing', () => {
    const hash = 'h'.repeat(129);
    const annotations = {
      [networksAnnotation]: 'macvlan',
      'kubernetes.io/config.mirror': hash,
      'kubernetes.io/config.hash': hash,
    };
    const pod = toPod({ metadata: { name: 'a', uid: 'u', annotations } });
    expect(pod.identity).to.equal('u');
    expect(pod.problems).to.deep.equal([]);
  });
});

describe('beside Pods over a limit', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('all others are served, and an Event says what to do', async () => {
    const { pods, allocator, said, reconciler } = worldOf(stop.signal, { patient: true });
    const hostile = [
      { [networksAnnotation]: networks(64_000) },
      { 'macvlan.default.kubernetes.io/ip_pool': addresses(1_000).join(',') },
      { 'macvlan.default.kubernetes.io/cidr': times(1_000, () => '10.0.0.0/8').join(',') },
    ];
    for (const [index, annotations] of hostile.entries()) pods.put(wanting(`hostile-${index}`, { annotations }));
    pods.put(wanting('a'));
    reconciler.start();
    await until(() => said.length === hostile.length && allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.name).to.equal('a');
    for (const { happening } of said) {
      expect(happening).to.include({ type: 'Warning', reason: 'ValidatePodNetworkFailed' });
      expect(happening.message.length).to.be.lessThan(1_024);
      expect(happening.message).to.match(/and at most \d+ are taken: (shorten it|remove some)/);
    }
  });

  it('a Pod whose annotations are wrong is not planned again by itself, but when its network changes', async () => {
    const { pods, networks: definitions, said, reconciler } = worldOf(stop.signal, {});
    const about = (name: string) => said.filter(({ pod }) => pod === name).length;
    pods.put(wanting('wrong', { annotations: { [key('ip_address')]: 'x' } }));
    pods.put(wanting('early', { annotations: { [networksAnnotation]: 'nowhere' } }));
    reconciler.start();
    await until(() => about('early') >= 3);
    expect(about('wrong')).to.equal(1);
    definitions.put({ ...macvlan, config: macvlan.config.replace('{', '{ ') });
    await until(() => about('wrong') === 2);
  });

  it('a member for which its list of addresses has no entry is planned again when its StatefulSet changes', async () => {
    const { pods, statefulSets, allocator, said, reconciler } = worldOf(stop.signal, { patient: true });
    const set = { namespace: 'default', name: 'web', uid: 'o', resourceVersion: '1', replicas: 2, deleting: false };
    statefulSets.put({ ...set, firstOrdinal: 0 });
    pods.put(
      wanting('web-2', {
        annotations: { [key('ip_pool')]: '10.0.0.1;10.0.0.2' },
        metadata: { ownerReferences: [statefulSet] },
      }),
    );
    reconciler.start();
    await until(() => said.length === 1);
    statefulSets.put({ ...set, firstOrdinal: 1 });
    await until(() => allocator.allocated.length === 1);
  });

  it('a Pod that goes over a limit keeps what it holds', async () => {
    const { pods, allocator, said, reconciler } = worldOf(stop.signal, { patient: true, holdings: [holding('a')] });
    pods.put(wanting('a'));
    reconciler.start();
    pods.put(wanting('a', { annotations: { [networksAnnotation]: networks(64_000) } }));
    await until(() => said.length === 1);
    await settled();
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
    const shows = {
      [networksAnnotation]: networks(64_000),
      [key('allocated')]: 'true',
      [key('ip_address')]: '10.0.0.2',
    };
    expect(detachedKeys(wanting('a', { annotations: shows }), {})).to.deep.equal([]);
  });
});

describe('the work of a plan', () => {
  /** What a function of an object is called with while something is done. */
  function calls(of: object, name: string, act: () => void): unknown[] {
    const functions = of as Record<string, (...args: unknown[]) => unknown>;
    const original = functions[name];
    const seen: unknown[] = [];
    functions[name] = function (this: unknown, ...args) {
      seen.push(args[0]);
      return original?.apply(this, args);
    };
    try {
      act();
    } finally {
      if (original) functions[name] = original;
    }
    return seen;
  }

  it('looks for annotations about attachments only where the key can be of one', () => {
    const annotations = Object.fromEntries(times(1_000, (i) => [`example.com/${i}`, 'x']));
    const pod = { metadata: { name: 'a', uid: 'u', annotations: { ...annotations, [key('ip_address')]: '10.0.0.9' } } };
    const tested = calls(RegExp.prototype, 'test', () => toPod(pod));
    expect(tested).to.include(key('ip_address'));
    expect(tested.filter((each) => String(each).startsWith('example.com'))).to.deep.equal([]);
  });

  it('reads each CIDR once, however many addresses must be in it', () => {
    const annotations = { [key('ip_pool')]: addresses(256).join(','), [key('cidr')]: '10.0.0.0/8,fd00::/64' };
    const read = calls(ipaddr, 'parseCIDR', () => plan('macvlan,macvlan', annotations));
    expect(read).to.deep.equal(['10.0.0.0/8', 'fd00::/64']);
  });

  it('reads an annotation once for all attachments that it is about', () => {
    const annotations = { [key('ip_pool')]: addresses(10).join(','), [key('routes')]: routes(3) };
    let attachments: ReturnType<typeof plan>['attachments'] = [];
    const parsed = calls(JSON, 'parse', () => ({ attachments } = plan(networks(24), annotations)));
    expect(attachments).to.have.length(24);
    expect(parsed.filter((text) => text === annotations[key('routes')])).to.have.length(1);
    expect(attachments.every(({ candidates }) => candidates === attachments[0]?.candidates)).to.equal(true);
    expect(attachments[0]).to.deep.include({ provider: request.provider });
  });

  it('does not grow with the IPPools of other namespaces', () => {
    const pools = new PoolsInForce(() => false);
    let looks = 0;
    const others = times(1_000, (index) => ({
      name: `p${index}`,
      get spec() {
        looks += 1;
        return { subnet: 's', ips: [], namespaces: [index === 7 ? 'mine' : 'other'] };
      },
      source: undefined,
    }));
    pools.snapshot({ seq: 1, holdings: [], subnets: [], pools: others, reservations: [] });
    looks = 0;
    expect(pools.naming('mine')).to.deep.equal(['p7']);
    expect(looks).to.equal(0);
  });

  it('of annotations to be taken away reads the networks once, however many annotations there are', () => {
    let split = 0;
    const text = { split: () => ((split += 1), ['macvlan']) } as unknown as string;
    const annotations: Record<string, string> = { [networksAnnotation]: text };
    for (let index = 0; index < 500; index++) annotations[`p${index}.default.kubernetes.io/allocated`] = 'true';
    const pod = { ...wanting('a'), annotations };
    expect(detachedKeys(pod, {})).to.have.length(500);
    expect(split).to.equal(1);
  });
});
