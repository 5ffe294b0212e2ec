import { expect } from 'chai';
import { FakeInformer, appliedSubnet, silentLogger, subnetNamed, until } from '../../testing/fakes.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { type NamespaceObject, namespaces } from '../../kubernetes/objects/namespace.ts';
import { NamespaceController } from './namespace-controller.ts';
import { SubnetCache } from '../subnets/subnet-cache.ts';

const list = 'ovn.kubernetes.io/logical_switch';

describe('the namespace controller', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world() {
    const informer = new FakeInformer<NamespaceObject>();
    const objects = new FakeInformer<SubnetObject>();
    const subnets = new SubnetCache(objects.objects);
    const errors: ApiError[] = [];
    const put = (annotations: Record<string, string | null> = {}): void =>
      informer.put(namespaces.parse({ metadata: { name: 'shop', uid: 'u', annotations } }));
    const controller = new NamespaceController({
      namespaces: informer,
      subnetObjects: objects,
      subnets,
      pools: { poolsOfNamespace: () => [] },
      write: (namespace, annotations) => {
        const error = errors.pop();
        if (error) return Promise.reject(error);
        put({ ...namespace.annotations, ...annotations });
        return Promise.resolve();
      },
      log: silentLogger,
      signal: stop.signal,
    });
    put();
    controller.start();
    return {
      objects,
      subnets,
      controller,
      errors,
      informer,
      shown: () => informer.objects.get('shop')?.annotations[list],
    };
  }

  it('writes a Subnet when it is in force, and removes it when it is deleted', async () => {
    const { objects, subnets, controller, shown } = world();
    const blue = subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] });
    objects.put(blue);
    subnets.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }], 51);
    controller.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }]);
    await until(() => shown() === 'blue');
    objects.drop(blue);
    await until(() => shown() === '');
  });

  it('does no work if only the usage counts of a Subnet change', () => {
    const { objects, informer } = world();
    const blue = subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] });
    objects.put(blue);
    let scans = 0;
    const names = [...informer.objects.keys()];
    informer.objects.keys = () => ((scans += 1), names.values());
    objects.put({ ...blue, status: { v4usingIPs: 7 } });
    expect(scans).to.equal(0);
    objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: [] }));
    expect(scans).to.equal(1);
  });

  for (const [what, status] of [
    ['fails', 500],
    ['rejects the credentials', 401],
  ] as const)
    it(`writes again if the API ${what}`, async () => {
      const { objects, subnets, errors, shown } = world();
      errors.push(new ApiError(status, what));
      subnets.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('blue', 'ovn') }], 51);
      objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
      await until(() => shown() === 'blue');
      expect(errors).to.deep.equal([]);
    });
});
