import { expect } from 'chai';
import { FakeSource, inForce, silent, subnetNamed, until } from '../fakes.ts';
import { ApiError } from '../kubernetes/api.ts';
import { type SubnetObject } from '../kubernetes/kept-objects.ts';
import { type NamespaceObject, namespaces } from '../kubernetes/objects.ts';
import { Namespaces } from './namespaces.ts';
import { Subnets } from './subnets.ts';

const list = 'ovn.kubernetes.io/logical_switch';

describe('the annotations of namespaces', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world() {
    const all = new FakeSource<NamespaceObject>();
    const objects = new FakeSource<SubnetObject>();
    const subnets = new Subnets(objects.objects);
    const trouble: ApiError[] = [];
    const put = (annotations: Record<string, string | null> = {}): void =>
      all.put(namespaces.parse({ metadata: { name: 'shop', uid: 'u', annotations } }));
    const bindings = new Namespaces({
      namespaces: all,
      objects,
      subnets,
      pools: { naming: () => [] },
      write: (namespace, annotations) => {
        const error = trouble.pop();
        if (error) return Promise.reject(error);
        put({ ...namespace.annotations, ...annotations });
        return Promise.resolve();
      },
      log: silent,
      signal: stop.signal,
    });
    put();
    bindings.start();
    return { objects, subnets, bindings, trouble, all, shown: () => all.objects.get('shop')?.annotations[list] };
  }

  it('follow Subnets as they are put in force, and as they go', async () => {
    const { objects, subnets, bindings, shown } = world();
    const blue = subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] });
    objects.put(blue);
    subnets.facts([{ kind: 'configured', subnet: inForce('blue', 'ovn') }], 51);
    bindings.facts([{ kind: 'configured', subnet: inForce('blue', 'ovn') }]);
    await until(() => shown() === 'blue');
    objects.drop(blue);
    await until(() => shown() === '');
  });

  it('are not looked at when only the counts of a Subnet change', () => {
    const { objects, all } = world();
    const blue = subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] });
    objects.put(blue);
    let looks = 0;
    const names = [...all.objects.keys()];
    all.objects.keys = () => ((looks += 1), names.values());
    objects.put({ ...blue, status: { v4usingIPs: 7 } });
    expect(looks).to.equal(0);
    objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: [] }));
    expect(looks).to.equal(1);
  });

  for (const [what, status] of [
    ['had trouble', 500],
    ['did not take the credentials', 401],
  ] as const)
    it(`are written again when the API ${what}`, async () => {
      const { objects, subnets, trouble, shown } = world();
      trouble.push(new ApiError(status, what));
      subnets.facts([{ kind: 'configured', subnet: inForce('blue', 'ovn') }], 51);
      objects.put(subnetNamed('blue', { provider: 'ovn', namespaces: ['shop'] }));
      await until(() => shown() === 'blue');
      expect(trouble).to.deep.equal([]);
    });
});
