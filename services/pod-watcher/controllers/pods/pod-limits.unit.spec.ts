/** Tests the limits on a Pod's annotations. A Pod over a limit does not delay other Pods. */
import { expect } from 'chai';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { networksAnnotation, toPod } from '../../kubernetes/objects/pod.ts';
import { detachedAnnotationKeys } from '../../projection/pod-annotations.ts';
import { annotationKey, planOf, defaultRequest, statefulSet } from './planning/testing/plan.fixture.ts';
import { PoolCache } from '../pools/pool-cache.ts';
import { macvlan, waitForIdle, podWithNetwork, createPodControllerWorld } from './testing/pod-controller-world.ts';

const times = <T>(count: number, each: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => each(i));
const addresses = (count: number): string[] => times(count, (i) => `10.0.${i >> 8}.${i & 255}`);
const networks = (count: number): string => times(count, () => 'macvlan').join(',');
const json = (element: object): string => JSON.stringify([{ name: 'macvlan', ...element }]);
/** Makes a valid list of routes. */
const routes = (count: number): string => JSON.stringify(times(count, () => ({ gw: '10.0.0.1' })));

describe('a Pod within its limits', () => {
  it('a Pod within its limits may have 24 attachments', () => {
    expect(planOf(networks(24)).attachments).to.have.length(24);
  });

  it('a Pod within its limits may have 24 networks and interfaces of an OVN4NFV request together, and no more', () => {
    const nics = (count: number) => ({
      ovnNetwork: JSON.stringify(times(count, (index) => ({ name: 'ovn-ls-25', interface: `net${index}` }))),
    });
    for (const count of [1, 2]) {
      expect(planOf(networks(24 - count), nics(count)).attachments).to.have.length(24);
      const { attachments, problems } = planOf(networks(25 - count), nics(count));
      expect(attachments).to.deep.equal([]);
      expect(problems[0]?.text).to.contain('the Pod has 25 networks and OVN4NFV interfaces, and at most 24 are taken');
    }
  });

  it('a Pod within its limits may list 1,024 addresses to choose from for all its attachments', () => {
    const { attachments, problems } = planOf(networks(4), { [annotationKey('ip_pool')]: addresses(256).join(',') });
    expect([attachments.length, problems]).to.deep.equal([4, []]);
  });

  it('a Pod within its limits may have 24 attachments in the JSON form', () => {
    expect(planOf(JSON.stringify(times(24, () => ({ name: 'macvlan' })))).attachments).to.have.length(24);
  });

  it('a Pod within its limits may name the longest network, namespace and interface', () => {
    const [namespace, name, nic] = ['n'.repeat(63), 'm'.repeat(253), 'i'.repeat(15)];
    for (const selected of [`${namespace}/${name}@${nic}`, JSON.stringify([{ name, namespace, interface: nic }])])
      expect(planOf(selected).problems.map(({ text }) => text)).to.deep.equal([
        `there is no NetworkAttachmentDefinition ${namespace}/${name}: create it, or correct the Pod's networks annotation`,
      ]);
  });

  it('a Pod within its limits may list 256 addresses, 64 routes and a CIDR of each family', () => {
    const { attachments, problems } = planOf('macvlan', {
      [annotationKey('ip_pool')]: addresses(256).join(','),
      [annotationKey('routes')]: routes(64),
      [annotationKey('cidr')]: '10.0.0.0/8,fd00::/64',
    });
    expect(problems).to.deep.equal([]);
    expect([attachments[0]?.candidates?.length, attachments[0]?.routes?.length]).to.deep.equal([256, 64]);
  });
});

describe('a Pod with any annotations', () => {
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

  it('a Pod with any annotations has requests within the limits of the allocator, or a problem with a short text', () => {
    fc.assert(
      fc.property(anyPod, ({ selected, pool, listed, cidr }) => {
        const annotations = {
          [annotationKey('ip_pool')]: pool,
          [annotationKey('routes')]: listed,
          [annotationKey('cidr')]: cidr,
        };
        const { attachments, problems } = planOf(selected, annotations);
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

describe('a Pod over a limit', () => {
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
      { [annotationKey('ip_address')]: addresses(9).join(',') },
      `${annotationKey('ip_address')} has 9 addresses, and at most 8 are taken: remove some`,
    ],
    [
      '1,000 CIDRs',
      'macvlan',
      { [annotationKey('cidr')]: times(1_000, (i) => `10.${i >> 8}.${i & 255}.0/24`).join(',') },
      `annotation ${annotationKey('cidr')} has 13559 characters, and at most 1024 are taken: shorten it`,
    ],
    [
      'two CIDRs of one family',
      'macvlan',
      { [annotationKey('cidr')]: '10.0.0.0/8,11.0.0.0/8' },
      `invalid cidr 10.0.0.0/8,11.0.0.0/8: ${annotationKey('cidr')} takes at most one CIDR of each family`,
    ],
    [
      'three CIDRs',
      'macvlan',
      { [annotationKey('cidr')]: '10.0.0.0/8,fd00::/64,fd01::/64' },
      `${annotationKey('cidr')} takes at most one CIDR of each family`,
    ],
    [
      '257 addresses to choose from',
      'macvlan',
      { [annotationKey('ip_pool')]: addresses(257).join(';') },
      `annotation ${annotationKey('ip_pool')} has 257 entries, and at most 256 are taken: remove some, or name an IPPool`,
    ],
    [
      '1,280 addresses to choose from for five attachments',
      networks(5),
      { [annotationKey('ip_pool')]: addresses(256).join(',') },
      'the Pod has 1280 addresses to choose from for all its attachments, and at most 1024 are taken: shorten the ip_pool annotations, or name an IPPool in them',
    ],
    [
      'a long list',
      'macvlan',
      { [annotationKey('ip_pool')]: '1'.repeat(16_385) },
      `annotation ${annotationKey('ip_pool')} has 16385 characters`,
    ],
    [
      '65 routes',
      'macvlan',
      { [annotationKey('routes')]: routes(65) },
      'it has 65 routes, and at most 64 are taken: remove some',
    ],
    [
      'long routes',
      'macvlan',
      { [annotationKey('routes')]: '['.repeat(9_000) },
      `annotation ${annotationKey('routes')} has 9000 characters`,
    ],
    [
      'a long value',
      'macvlan',
      { [annotationKey('logical_switch')]: 'x'.repeat(1_025) },
      `annotation ${annotationKey('logical_switch')} has 1025 characters, and at most 1024 are taken: shorten it`,
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
    it(`a Pod with ${what} has no requests, and a problem that names the limit`, () => {
      const { attachments, detached, problems } = planOf(selected, annotations);
      expect([attachments, detached, problems.length]).to.deep.equal([[], [], 1]);
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
    it(`a Pod with ${what} has no requests, and a problem that names the limit`, () => {
      const pod = toPod({
        metadata: { name: 'a', uid: 'u', annotations: { [networksAnnotation]: 'macvlan' }, ownerReferences },
      });
      expect(pod.controller).to.equal(undefined);
      expect(pod.problems[0]).to.contain(sentence);
    });

  it('a static Pod’s hash in another form than the kubelet’s is ignored', () => {
    const hash = 'h'.repeat(129);
    const annotations = {
      [networksAnnotation]: 'macvlan',
      'kubernetes.io/config.mirror': hash,
      'kubernetes.io/config.hash': hash,
    };
    const pod = toPod({ metadata: { name: 'a', uid: 'u', annotations } });
    expect(pod.ledgerUid).to.equal('u');
    expect(pod.problems).to.deep.equal([]);
  });
});

describe('while Pods are over a limit', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('while Pods are over a limit, all other Pods are served, and an Event has the remedy', async () => {
    const { pods, allocator, podEvents, controller } = createPodControllerWorld(stop.signal, { longBackoff: true });
    const hostile = [
      { [networksAnnotation]: networks(64_000) },
      { 'macvlan.default.kubernetes.io/ip_pool': addresses(1_000).join(',') },
      { 'macvlan.default.kubernetes.io/cidr': times(1_000, () => '10.0.0.0/8').join(',') },
    ];
    for (const [index, annotations] of hostile.entries()) pods.put(podWithNetwork(`hostile-${index}`, { annotations }));
    pods.put(podWithNetwork('a'));
    controller.start();
    await until(() => podEvents.length === hostile.length && allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.name).to.equal('a');
    for (const { podEvent } of podEvents) {
      expect(podEvent).to.include({ type: 'Warning', reason: 'ValidatePodNetworkFailed' });
      expect(podEvent.message.length).to.be.lessThan(1_024);
      expect(podEvent.message).to.match(/and at most \d+ are taken: (shorten it|remove some)/);
    }
  });

  it('a Pod with wrong annotations is planned again only when its network changes', async () => {
    const { pods, networks: definitions, podEvents, controller } = createPodControllerWorld(stop.signal, {});
    const eventsAbout = (name: string) => podEvents.filter(({ pod }) => pod === name).length;
    pods.put(podWithNetwork('wrong', { annotations: { [annotationKey('ip_address')]: 'x' } }));
    pods.put(podWithNetwork('early', { annotations: { [networksAnnotation]: 'nowhere' } }));
    controller.start();
    await until(() => eventsAbout('early') >= 3);
    expect(eventsAbout('wrong')).to.equal(1);
    definitions.put({ ...macvlan, config: macvlan.config.replace('{', '{ ') });
    await until(() => eventsAbout('wrong') === 2);
  });

  it('a member without an entry in ip_pool is planned again when its StatefulSet changes', async () => {
    const { pods, statefulSets, allocator, podEvents, controller } = createPodControllerWorld(stop.signal, {
      longBackoff: true,
    });
    const set = { namespace: 'default', name: 'web', uid: 'o', resourceVersion: '1', replicas: 2, deleting: false };
    statefulSets.put({ ...set, firstOrdinal: 0 });
    pods.put(
      podWithNetwork('web-2', {
        annotations: { [annotationKey('ip_pool')]: '10.0.0.1;10.0.0.2' },
        metadata: { ownerReferences: [statefulSet] },
      }),
    );
    controller.start();
    await until(() => podEvents.length === 1);
    statefulSets.put({ ...set, firstOrdinal: 1 });
    await until(() => allocator.allocated.length === 1);
  });

  it('a Pod that exceeds a limit later keeps its allocations', async () => {
    const { pods, allocator, podEvents, controller } = createPodControllerWorld(stop.signal, {
      longBackoff: true,
      allocations: [heldAllocation('a')],
    });
    pods.put(podWithNetwork('a'));
    controller.start();
    pods.put(podWithNetwork('a', { annotations: { [networksAnnotation]: networks(64_000) } }));
    await until(() => podEvents.length === 1);
    await waitForIdle();
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
    const shown = {
      [networksAnnotation]: networks(64_000),
      [annotationKey('allocated')]: 'true',
      [annotationKey('ip_address')]: '10.0.0.2',
    };
    expect(detachedAnnotationKeys(podWithNetwork('a', { annotations: shown }), {})).to.deep.equal([]);
  });
});

describe('the cost of a plan', () => {
  /** Records the first arguments of the calls of a method while `act` runs. */
  function recordCalls(of: object, name: string, act: () => void): unknown[] {
    const functions = of as Record<string, (...args: unknown[]) => unknown>;
    const original = functions[name];
    const recorded: unknown[] = [];
    functions[name] = function (this: unknown, ...args) {
      recorded.push(args[0]);
      return original?.apply(this, args);
    };
    try {
      act();
    } finally {
      if (original) functions[name] = original;
    }
    return recorded;
  }

  it('a plan matches only annotation keys that may be about attachments', () => {
    const annotations = Object.fromEntries(times(1_000, (i) => [`example.com/${i}`, 'x']));
    const pod = {
      metadata: { name: 'a', uid: 'u', annotations: { ...annotations, [annotationKey('ip_address')]: '10.0.0.9' } },
    };
    const tested = recordCalls(RegExp.prototype, 'test', () => toPod(pod));
    expect(tested).to.include(annotationKey('ip_address'));
    expect(tested.filter((each) => String(each).startsWith('example.com'))).to.deep.equal([]);
  });

  it('a plan parses each CIDR once, for any number of addresses', () => {
    const annotations = {
      [annotationKey('ip_pool')]: addresses(256).join(','),
      [annotationKey('cidr')]: '10.0.0.0/8,fd00::/64',
    };
    const read = recordCalls(ipaddr, 'parseCIDR', () => planOf('macvlan,macvlan', annotations));
    expect(read).to.deep.equal(['10.0.0.0/8', 'fd00::/64']);
  });

  it('a plan parses an annotation once for all its attachments', () => {
    const annotations = { [annotationKey('ip_pool')]: addresses(10).join(','), [annotationKey('routes')]: routes(3) };
    let attachments: ReturnType<typeof planOf>['attachments'] = [];
    const parsed = recordCalls(JSON, 'parse', () => ({ attachments } = planOf(networks(24), annotations)));
    expect(attachments).to.have.length(24);
    expect(parsed.filter((text) => text === annotations[annotationKey('routes')])).to.have.length(1);
    expect(attachments.every(({ candidates }) => candidates === attachments[0]?.candidates)).to.equal(true);
    expect(attachments[0]).to.deep.include({ provider: defaultRequest.provider });
  });

  it('the cost of a plan does not grow with the IPPools of other namespaces', () => {
    const pools = new PoolCache(() => false);
    let reads = 0;
    const others = times(1_000, (index) => ({
      name: `p${index}`,
      get spec() {
        reads += 1;
        return { subnet: 's', ips: [], namespaces: [index === 7 ? 'mine' : 'other'] };
      },
      source: undefined,
    }));
    pools.onSnapshot({ seq: 1, allocations: [], subnets: [], pools: others, reservations: [] });
    reads = 0;
    expect(pools.poolsOfNamespace('mine')).to.deep.equal(['p7']);
    expect(reads).to.equal(0);
  });

  it('a plan parses the networks once for any number of annotations to remove', () => {
    let split = 0;
    const text = { trim: () => text, split: () => ((split += 1), ['macvlan']) } as unknown as string;
    const annotations: Record<string, string> = { [networksAnnotation]: text };
    for (let index = 0; index < 500; index++) annotations[`p${index}.default.kubernetes.io/allocated`] = 'true';
    const pod = { ...podWithNetwork('a'), annotations };
    expect(detachedAnnotationKeys(pod, {})).to.have.length(500);
    expect(split).to.equal(1);
  });
});
