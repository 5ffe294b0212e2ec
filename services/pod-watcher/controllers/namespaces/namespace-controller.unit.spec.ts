import { expect } from 'chai';
import { FakeInformer, appliedSubnet, silentLogger, subnetNamed, until } from '../../testing/fakes.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { type NamespaceObject, namespaces } from '../../kubernetes/objects/namespace.ts';
import { NamespaceController } from './namespace-controller.ts';
import { PoolCache } from '../pools/pool-cache.ts';
import { SubnetCache } from '../subnets/subnet-cache.ts';

const list = 'ovn.kubernetes.io/logical_switch';
const poolList = 'ovn.kubernetes.io/ip_pool';

const poolOf = (...namespaceNames: string[]) => ({
  name: 'web',
  spec: { subnet: 'blue', ips: ['10.1.0.5'], namespaces: namespaceNames },
  source: undefined,
});

/** Waits longer than the first backoff of the controller. */
const longerThanBackoff = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));

describe('the namespace controller', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** @param prepare adds objects that are there before the controller */
  function world(prepare?: (objects: FakeInformer<SubnetObject>) => void) {
    const informer = new FakeInformer<NamespaceObject>();
    const objects = new FakeInformer<SubnetObject>();
    const subnets = new SubnetCache(objects.objects);
    const pools = new PoolCache(() => false);
    const errors: ApiError[] = [];
    // The controller also works on its own writes. A spec that does not wait for that proves
    // little.
    let isOwnWriteOpen = false;
    let reads = 0;
    informer.put(namespaces.parse({ metadata: { name: 'shop', uid: 'u' } }));
    prepare?.(objects);
    const controller = new NamespaceController({
      namespaces: informer,
      subnetObjects: objects,
      subnets,
      pools: {
        poolsOfNamespace: (name) => {
          isOwnWriteOpen = false;
          reads++;
          return pools.poolsOfNamespace(name);
        },
      },
      write: (namespace, annotations) => {
        const error = errors.pop();
        if (error) return Promise.reject(error);
        isOwnWriteOpen = true;
        const present = informer.objects.get(namespace.name) ?? namespace;
        const written = Object.entries({ ...present.annotations, ...annotations });
        const kept = Object.fromEntries(written.map(([key, value]) => [key, value ?? '']));
        return Promise.resolve(informer.put({ ...present, annotations: kept }));
      },
      log: silentLogger,
      signal: stop.signal,
    });
    controller.start();
    const annotation = (key: string): string | undefined =>
      isOwnWriteOpen ? 'a write that the controller has not seen' : informer.objects.get('shop')?.annotations[key];
    return {
      objects,
      subnets,
      pools,
      controller,
      errors,
      informer,
      reads: () => reads,
      shown: () => annotation(list),
      shownPools: () => annotation(poolList),
    };
  }

  it('the namespace controller writes a Subnet when it is in force, and removes it when it is deleted', async () => {
    const { objects, subnets, controller, shown } = world();
    const blue = subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] });
    objects.put(blue);
    subnets.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }], 51);
    controller.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }]);
    await until(() => shown() === 'blue');
    objects.drop(blue);
    await until(() => shown() === '');
  });

  it('the namespace controller writes a Subnet that the ledger accepts after its object was read', async () => {
    const { objects, subnets, controller, reads, shown } = world();
    objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
    await until(() => reads() > 0);
    const configured = { kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') } as const;
    subnets.onEvents([configured], 51);
    controller.onEvents([configured]);
    await until(() => shown() === 'blue');
  });

  it('the namespace controller writes a Subnet to a namespace when both were there before its start', async () => {
    const { subnets, controller, shown } = world((objects) =>
      objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] })),
    );
    const snapshot = { seq: 50, allocations: [], subnets: [appliedSubnet('blue', 'ovn')], pools: [], reservations: [] };
    subnets.onSnapshot(snapshot);
    controller.onSnapshot(snapshot);
    await until(() => shown() === 'blue');
  });

  it('the namespace controller removes a Subnet that the ledger retires, although its object is there', async () => {
    const { objects, subnets, controller, shown } = world();
    objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
    const configured = { kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') } as const;
    subnets.onEvents([configured], 51);
    controller.onEvents([configured]);
    await until(() => shown() === 'blue');
    const retired = { kind: 'subnet-retired', subnet: 'blue' } as const;
    subnets.onEvents([retired], 52);
    controller.onEvents([retired]);
    await until(() => shown() === '');
  });

  it('the namespace controller writes an IPPool that names a namespace, and removes it when the IPPool names another one', async () => {
    const { pools, controller, shownPools } = world();
    const send = (...namespaceNames: string[]): void => {
      const configured = { kind: 'pool-configured', pool: poolOf(...namespaceNames) } as const;
      pools.onEvents([configured]);
      controller.onEvents([configured]);
    };
    send('shop');
    await until(() => shownPools() === 'web');
    send('bank');
    await until(() => shownPools() === '');
    send('bank', 'shop');
    await until(() => shownPools() === 'web');
  });

  it('the namespace controller removes an IPPool of its first snapshot when the ledger retires it', async () => {
    const { pools, controller, shownPools } = world();
    const snapshot = { seq: 50, allocations: [], subnets: [], pools: [poolOf('shop')], reservations: [] };
    pools.onSnapshot(snapshot);
    controller.onSnapshot(snapshot);
    await until(() => shownPools() === 'web');
    const retired = { kind: 'pool-retired', pool: 'web', subnet: 'blue' } as const;
    pools.onEvents([retired]);
    controller.onEvents([retired]);
    await until(() => shownPools() === '');
  });

  it('the namespace controller reads only labels of affected namespaces, and none if only usage counts of a Subnet change', async () => {
    // Given: 250 Subnets that select 600 namespaces by a label.
    const { objects, subnets, controller, informer } = world();
    let reads = 0;
    const counted = (labels: Record<string, string>) =>
      new Proxy(labels, { get: (target, key: string) => ((reads += 1), target[key]) });
    const putNamespace = (index: number, team: number): void => {
      const parsed = namespaces.parse({ metadata: { name: `ns-${index}`, uid: `u-${index}` } });
      informer.put({ ...parsed, labels: counted({ team: `team-${team}` }) });
    };
    for (let index = 0; index < 600; index++) putNamespace(index, index % 250);
    const configured = (name: string) => ({ kind: 'subnet-configured', subnet: appliedSubnet(name, 'ovn') }) as const;
    const selecting = (name: string, team: number) =>
      subnetNamed(name, { provider: 'ovn', namespaceSelectors: [{ matchLabels: { team: `team-${team}` } }] });
    const shownBy = (index: number) => informer.objects.get(`ns-${index}`)?.annotations[list];
    const names = Array.from({ length: 250 }, (_, index) => `subnet-${index}`);
    for (const [index, name] of names.entries()) objects.put(selecting(name, index));
    subnets.onEvents(names.map(configured), 51);
    controller.onEvents(names.map(configured));
    await until(() =>
      Array.from({ length: 600 }, (_, index) => shownBy(index) === `subnet-${index % 250}`).every(Boolean),
    );
    // When: a Subnet shows other counts or selects other namespaces, or a namespace gets another
    // label.
    reads = 0;
    objects.put({ ...selecting('subnet-7', 7), status: { v4usingIPs: 7 } });
    expect(reads).to.equal(0);
    objects.put(selecting('subnet-7', 8));
    await until(() => shownBy(8) === 'subnet-7,subnet-8' && shownBy(258) === 'subnet-7,subnet-8');
    // Then: the work is limited to these namespaces.
    expect(reads).to.be.lessThan(50);
    reads = 0;
    putNamespace(9, 10);
    await until(() => shownBy(9) === 'subnet-10');
    expect(reads).to.be.lessThan(50);
  });

  it('the namespace controller does not repeat a write that the API rejects, and writes again after the next change', async () => {
    const { objects, subnets, errors, reads, shown } = world();
    const configured = (name: string) => ({ kind: 'subnet-configured', subnet: appliedSubnet(name, 'ovn') }) as const;
    subnets.onEvents(['blue', 'red'].map(configured), 51);
    errors.push(new ApiError(422, 'the annotations are too long'), new ApiError(422, 'the annotations are too long'));
    objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
    await until(() => errors.length === 1);
    const before = reads();
    await longerThanBackoff();
    expect([reads() - before, errors.length], 'no further attempt').to.deep.equal([0, 1]);
    errors.length = 0;
    objects.put(subnetNamed('red', { provider: 'ovn', namespaces: ['shop'] }));
    await until(() => shown() === 'blue,red');
  });

  for (const [what, status] of [
    ['fails', 500],
    ['rejects the credentials', 401],
  ] as const)
    it(`the namespace controller writes again if the API ${what}`, async () => {
      const { objects, subnets, errors, shown } = world();
      errors.push(new ApiError(status, what));
      subnets.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }], 51);
      objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
      await until(() => shown() === 'blue');
      expect(errors).to.deep.equal([]);
    });
});
