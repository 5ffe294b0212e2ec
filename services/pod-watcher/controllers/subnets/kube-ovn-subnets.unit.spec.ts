import { expect } from 'chai';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { FakeInformer, silentLogger, until } from '../../testing/fakes.ts';
import { toSubnet, type SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import type { Condition } from '../object-controller/conditions.ts';
import { KubeOvnSubnets } from './kube-ovn-subnets.ts';
import { SubnetCache } from './subnet-cache.ts';
import { SubnetController } from './subnet-controller.ts';

const lan = { cidrBlock: '172.17.0.0/24', gateway: '172.17.0.1', protocol: 'IPv4' };
const inForce = { ...lan, excludeIps: ['172.17.0.1'], provider: 'lan.default' };

/** Makes a Subnet of ipledger that is in force. */
const own = (spec: object = {}, generation = 1) =>
  toSubnet({
    metadata: { name: 'lan', uid: 'own', generation, finalizers: ['ipledger.io/ledger'] },
    spec: { ...inForce, ...spec },
  });
const kubeOvn = (name: string, provider: string, status: object, spec: object = {}) =>
  toSubnet({ metadata: { name, uid: name }, spec: { ...lan, provider, ...spec }, status });
const network = (name: string, type: string, master = 'eth1'): NetworkDefinition => ({
  namespace: 'default',
  name,
  uid: name,
  resourceVersion: '1',
  besideKubeOvn: true,
  config: JSON.stringify({ type: 'macvlan', master, ipam: { type } }),
});
const available = { v4availableIPrange: '172.17.0.2-172.17.0.254' };

describe('beside Kube-OVN a Subnet in force', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  async function start(...initial: SubnetObject[]) {
    const objects = new FakeInformer<SubnetObject>();
    const theirs = new FakeInformer<SubnetObject>();
    const networks = new FakeInformer<NetworkDefinition>();
    const subnets = new SubnetCache(objects.objects);
    const [woken, events] = [new Set<string>(), new Array<string>()];
    const ready: string[] = [];
    const controller = new SubnetController({
      allocator: fakeLedgerClient({
        applySubnet: ({ spec }) => ({
          position: { epoch: 1, seq: 99, hash: '' },
          subnet: {
            name: 'lan',
            spec: { ...inForce, excludeIps: [...(spec?.excludeIps ?? [])] },
            source: { uid: 'own', generation: 1 },
          },
        }),
      }),
      objects,
      networks,
      subnets,
      kubeOvn: new KubeOvnSubnets(theirs, networks),
      wakeWaiters: (topic) => woken.add(topic),
      clusterAddresses: () => ({ apiServer: '', nodes: new Map() }),
      write: () => Promise.resolve(),
      writeStatus: (object, { conditions }) => {
        objects.put({ ...object, status: { conditions } });
        ready.push((conditions as Condition[]).find(({ type }) => type === 'Ready')?.status ?? '');
        return Promise.resolve();
      },
      recordEvent: (_object, { message }) => events.push(message),
      log: silentLogger,
      signal: stop.signal,
    });
    const snapshot = { seq: 50, allocations: [], pools: [], reservations: [] };
    const present = [{ name: 'lan', spec: inForce, source: { uid: 'own', generation: 1 } }];
    for (const subscriber of [subnets, controller]) subscriber.onSnapshot({ ...snapshot, subnets: present });
    networks.put(network('lan', 'ipledger'));
    for (const each of initial) theirs.put(each);
    objects.put(own());
    await controller.start();
    const rewind = (): void => {
      for (const subscriber of [subnets, controller]) subscriber.onSnapshot({ ...snapshot, seq: 40, subnets: [] });
    };
    return { objects, theirs, networks, subnets, woken, events, ready, rewind };
  }

  it('beside Kube-OVN a Subnet in force allocates nothing while a Subnet of Kube-OVN may allocate the same address', async () => {
    const { theirs, networks, subnets, woken, events, ready } = await start();
    expect(subnets.serves('lan')).to.equal(true);
    networks.put(network('other', 'kube-ovn'));
    const late = kubeOvn('late', 'other.default', {});
    theirs.put(late);
    theirs.put({ ...late, status: available });
    await until(() => !subnets.serves('lan'));
    await until(() => ready.at(-1) === 'False');
    expect(events.at(-1)).to.match(
      /^Kube-OVN's Subnet late of provider other\.default may give 172\.17\.0\.2\.\.172\.17\.0\.254: add .*\. Until then Subnet lan gives no new address; Pods keep theirs$/,
    );
    expect(subnets.whyNot('lan.default')).to.match(/^Subnet lan gives no new address: Kube-OVN's Subnet late/);
    expect(subnets.get('lan')).to.not.equal(undefined);
    expect(subnets.suspended).to.equal(1);
    woken.clear();
    theirs.drop(late);
    await until(() => subnets.serves('lan') && ready.at(-1) === 'True');
    expect([...woken]).to.deep.equal(['subnet:lan', 'provider:lan.default']);
    expect(subnets.suspended).to.equal(0);
  });

  it('beside Kube-OVN a Subnet in force allocates nothing once Kube-OVN has allocated its address, until excludeIps has it', async () => {
    const moved = kubeOvn('moved', 'lan.default', available);
    const { objects, theirs, subnets, ready } = await start(moved);
    expect(subnets.serves('lan')).to.equal(true);
    theirs.put({ ...moved, status: { ...available, v4usingIPrange: '172.17.0.9' } });
    await until(() => ready.at(-1) === 'False');
    expect(subnets.serves('lan')).to.equal(false);
    objects.put(own({ excludeIps: ['172.17.0.1', '172.17.0.9'] }, 2));
    await until(() => subnets.serves('lan'));
  });

  it('beside Kube-OVN a Subnet in force is compared by the plugin and the broadcast domain of the networks', async () => {
    const { theirs, networks, subnets, woken } = await start();
    networks.put(network('other', 'kube-ovn', 'eth2'));
    theirs.put(kubeOvn('other', 'other.default', available));
    // Puts the network on another interface: the next change is the first that matters.
    networks.put(network('other', 'kube-ovn'));
    await until(() => !subnets.serves('lan'));
    woken.clear();
    networks.put(network('other', 'ipledger'));
    await until(() => subnets.serves('lan'));
    expect([...woken]).to.deep.equal(['subnet:lan', 'provider:lan.default']);
  });

  it('beside Kube-OVN a Subnet in force is compared by its spec in force and by a refused edit, without a backoff', async () => {
    const { objects, theirs, networks, subnets, events } = await start();
    const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
    networks.put(network('other', 'kube-ovn'));
    const range = { v4availableIPrange: '172.18.0.2-172.18.0.254' };
    const [ofEdit, inForceToo] = [
      kubeOvn('of-edit', 'other.default', range, { cidrBlock: '172.18.0.0/24' }),
      kubeOvn('in-force', 'other.default', available),
    ];
    theirs.put(ofEdit);
    objects.put(own({ cidrBlock: '172.18.0.0/24' }, 2));
    await until(() => events.some((message) => message.startsWith("Kube-OVN's Subnet of-edit")));
    expect(subnets.serves('lan'), 'the earlier spec').to.equal(true);
    theirs.put(inForceToo);
    await soon();
    expect(subnets.serves('lan')).to.equal(false);
    theirs.drop(inForceToo);
    await soon();
    expect(subnets.serves('lan')).to.equal(true);
    expect(subnets.refusalOf('lan')).to.contain('Subnet of-edit');
    theirs.drop(ofEdit);
    await soon();
    expect(subnets.refusalOf('lan')).to.equal(undefined);
  });

  it('beside Kube-OVN a Subnet that is not in force is compared by its object', async () => {
    const { objects, theirs, subnets } = await start(kubeOvn('early', 'new.default', available));
    objects.put(toSubnet({ metadata: { name: 'new', uid: 'new' }, spec: { ...inForce, provider: 'new.default' } }));
    await until(() => subnets.refusalOf('new') !== undefined);
    theirs.drop(kubeOvn('early', 'new.default', available));
    await until(() => subnets.get('new') !== undefined);
  });

  it('beside Kube-OVN a Subnet that conflicts at the start of the pod-watcher allocates nothing', async () => {
    const { subnets } = await start(kubeOvn('early', 'other.default', available));
    expect(subnets.serves('lan')).to.equal(false);
  });

  it('beside Kube-OVN a Subnet in force is compared again only after a change of a Subnet’s overlapping addresses', () => {
    const theirs = new FakeInformer<SubnetObject>();
    const kubeOvnSubnets = new KubeOvnSubnets(theirs, new FakeInformer<NetworkDefinition>());
    const affected: boolean[] = [];
    kubeOvnSubnets.subscribe((mayAlter) => affected.push(mayAlter(own())));
    theirs.put(kubeOvn('pods', 'ovn', available));
    const apart = kubeOvn('apart', 'other.default', available, { cidrBlock: '10.0.0.0/24' });
    theirs.put(apart);
    theirs.put({ ...apart, status: { ...available, conditions: [] } });
    expect(affected).to.deep.equal([false]);
  });

  it('beside Kube-OVN a Subnet in force is compared again after another Subnet moves to its addresses, or away from them', () => {
    const theirs = new FakeInformer<SubnetObject>();
    const kubeOvnSubnets = new KubeOvnSubnets(theirs, new FakeInformer<NetworkDefinition>());
    const apart = kubeOvn('moved', 'other.default', available, { cidrBlock: '10.0.0.0/24' });
    theirs.put(apart);
    const affected: boolean[] = [];
    kubeOvnSubnets.subscribe((mayAlter) => affected.push(mayAlter(own())));
    theirs.put(kubeOvn('moved', 'other.default', available));
    theirs.put(apart);
    expect(affected).to.deep.equal([true, true]);
  });

  it('beside Kube-OVN a dual-stack Subnet in force is compared again after a change in one of its families, and ignores an invalid CIDR', () => {
    const theirs = new FakeInformer<SubnetObject>();
    const kubeOvnSubnets = new KubeOvnSubnets(theirs, new FakeInformer<NetworkDefinition>());
    const affected: boolean[] = [];
    const dual = own({ cidrBlock: 'fd00::/64,172.17.0.0/24' });
    kubeOvnSubnets.subscribe((mayAlter) => affected.push(mayAlter(dual)));
    for (const cidrBlock of ['172.17.0.0/24', 'fd00::/64', '172.17.0.0/24,fd01::/64', 'no CIDR'])
      theirs.put(kubeOvn(`of-${cidrBlock}`, 'other.default', available, { cidrBlock }));
    expect(affected).to.deep.equal([true, true, true, false]);
  });

  it('beside Kube-OVN a Subnet in force is applied again after the ledger was rewound', async () => {
    const { subnets, rewind } = await start();
    rewind();
    expect(subnets.serves('lan')).to.equal(false);
    await until(() => subnets.serves('lan'));
  });

  it('beside Kube-OVN a Subnet in force is compared again after a change of a network of which any Subnet has its addresses', () => {
    const [theirs, networks] = [new FakeInformer<SubnetObject>(), new FakeInformer<NetworkDefinition>()];
    const kubeOvnSubnets = new KubeOvnSubnets(theirs, networks);
    for (const [name, cidrBlock] of [
      ['apart', '10.0.0.0/24'],
      ['same', lan.cidrBlock],
    ] as const)
      theirs.put(kubeOvn(name, 'other.default', available, { cidrBlock }));
    const affected: boolean[] = [];
    kubeOvnSubnets.subscribe((mayAlter) => affected.push(mayAlter(own())));
    networks.notify({ kind: 'listed' });
    for (const name of ['other', 'unused', 'lan']) networks.put(network(name, 'kube-ovn'));
    networks.put({ ...network('other', 'kube-ovn'), resourceVersion: '2' });
    expect(affected).to.deep.equal([true, false, true]);
  });

  it('beside Kube-OVN a Subnet may have the addresses of a Subnet of Kube-OVN only if both broadcast domains are known and differ', () => {
    const [theirs, networks] = [new FakeInformer<SubnetObject>(), new FakeInformer<NetworkDefinition>()];
    const kubeOvnSubnets = new KubeOvnSubnets(theirs, networks);
    theirs.put(kubeOvn('other', 'other.default', available));
    const unknown = (name: string): NetworkDefinition => ({
      ...network(name, 'kube-ovn'),
      config: '{"type":"unknown","ipam":{"type":"kube-ovn"}}',
    });
    const isRefused = (ofOwn: NetworkDefinition, ofOther: NetworkDefinition): boolean => {
      for (const each of [ofOwn, ofOther]) networks.put(each);
      return kubeOvnSubnets.conflictOf(own()) !== undefined;
    };
    const [one, two] = [network('lan', 'ipledger', 'eth1'), network('other', 'kube-ovn', 'eth2')];
    expect(isRefused(one, two)).to.equal(false);
    expect(isRefused(one, network('other', 'kube-ovn', 'eth1'))).to.equal(true);
    expect(isRefused(one, unknown('other'))).to.equal(true);
    expect(isRefused(unknown('lan'), two)).to.equal(true);
    expect(isRefused(unknown('lan'), unknown('other'))).to.equal(true);
  });
});
