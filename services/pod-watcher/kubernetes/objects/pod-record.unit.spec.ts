import { expect } from 'chai';
import fc from 'fast-check';
import { unverifiedLauncher, launcher, mirrorOf, podNamed } from '../../testing/fakes.ts';
import { podRecords } from './pod-record.ts';
import { type Pod, toPod } from './pod.ts';

const anyText = fc.oneof(fc.constantFrom('', 'x', 'node-1'), fc.string({ unit: 'binary', maxLength: 20 }));
const anyName = fc.oneof(fc.constant('web-0'), fc.string({ minLength: 1, maxLength: 20 }));
const anyAnnotationKey = fc.oneof(
  fc.constantFrom('k8s.v1.cni.cncf.io/networks', 'ovn.kubernetes.io/vip'),
  fc
    .constantFrom('ip_address', 'mac_address', 'ip_address.net1', 'cidr', 'gateway', 'allocated', 'ip_pool', 'routes')
    .map((suffix) => `macvlan.default.kubernetes.io/${suffix}`),
);
const anyValue = fc.oneof(
  anyText,
  fc.constantFrom('10.0.0.2', '10.0.0.2,fd00::2', '10.000.0.2', '256.0.0.1', '02:aa:bb:cc:dd:ee', '02:AA:BB:CC:DD:EE'),
  fc.ipV4(),
  fc.ipV6(),
);
const anyOwner = fc.record({
  apiVersion: fc.constantFrom('apps/v1', 'kubevirt.io/v1'),
  kind: fc.constantFrom('ReplicaSet', 'VirtualMachineInstance'),
  name: fc.constantFrom('web', 'db'),
  uid: fc.oneof(fc.uuid(), anyText),
  controller: fc.boolean(),
});
const anyPod: fc.Arbitrary<Pod> = fc
  .record({
    metadata: fc.record({
      name: anyName,
      namespace: anyText,
      uid: fc.oneof(
        fc.uuid(),
        anyText.filter((text) => text !== ''),
      ),
      resourceVersion: fc.oneof(fc.nat().map(String), anyText),
      creationTimestamp: fc.constantFrom('2026-11-24T14:00:00Z', '', 'yesterday'),
      annotations: fc.dictionary(fc.oneof(anyAnnotationKey, fc.constant('ipledger.io/waiting')), anyValue, {
        noNullPrototype: true,
      }),
      ownerReferences: fc.array(anyOwner, { maxLength: 2 }),
      deletionTimestamp: fc.constantFrom('', '', '', '2026-11-24T14:00:00Z'),
    }),
    spec: fc.record({
      nodeName: anyText,
      hostNetwork: fc.boolean(),
      restartPolicy: fc.constantFrom('Always', 'Never'),
      terminationGracePeriodSeconds: fc.oneof(
        fc.constant(30),
        fc.nat(),
        fc.integer(),
        fc.double({ noNaN: true, min: 0.1 }),
      ),
    }),
    status: fc.record({ phase: fc.constantFrom('Pending', 'Running'), reason: fc.constantFrom('', '', 'Evicted') }),
  })
  .map(toPod);

const commonOf = (pod: Pod): unknown => (podRecords.store(pod) as readonly unknown[])[0];

describe('a Pod as a record', () => {
  it('a Pod that is stored as a record is restored as it was, with its annotations in their order', () => {
    let records = 0;
    fc.assert(
      fc.property(anyPod, (pod) => {
        const stored = podRecords.store(pod);
        if (stored === pod) return;
        records++;
        const restored = podRecords.restore(stored, pod.name);
        expect(restored).to.deep.equal(pod);
        expect(Object.keys(restored.annotations)).to.deep.equal(Object.keys(pod.annotations));
      }),
      { numRuns: 300 },
    );
    expect(records).to.be.above(100);
  });

  it('all Pods of a workload share one common part, on any node, with any addresses', () => {
    const pods = ['a', 'b'].map((name, index) =>
      podNamed(name, {
        annotations: {
          'k8s.v1.cni.cncf.io/networks': 'lan1',
          'macvlan.default.kubernetes.io/ip_address': `10.0.0.${index}`,
          'macvlan.default.kubernetes.io/mac_address': `02:00:00:00:00:0${index}`,
        },
        metadata: { resourceVersion: String(index), creationTimestamp: `2026-11-24T14:00:0${index}Z` },
        spec: { nodeName: `node-${index}` },
      }),
    );
    const [first, second] = pods.map(commonOf);
    expect(first).to.equal(second);
    expect(commonOf(podNamed('c', { status: { phase: 'Running' } }))).not.to.equal(first);
  });

  it('a Pod that is stored as a record is restored as it was while a tenant fills the pool of common parts', () => {
    const podWith = (index: number): Pod =>
      podNamed(`web-${index}`, { annotations: { 'macvlan.default.kubernetes.io/routes': String(index) } });
    const stored = Array.from({ length: 5_000 }, (_, index) => podRecords.store(podWith(index)));
    for (const index of [0, 2_047, 2_048, 4_999])
      expect(podRecords.restore(stored[index] as Pod, `web-${index}`)).to.deep.equal(podWith(index));
  });

  it('a Pod with the identity of a machine or a manifest, or with long annotations, is stored as it is', () => {
    const unusual: Pod[] = [
      unverifiedLauncher('a'),
      launcher('a'),
      podNamed('a', { annotations: { 'macvlan.default.kubernetes.io/routes': 'x'.repeat(2_048) } }),
      mirrorOf('a', '0'.repeat(32)),
    ];
    for (const pod of unusual) expect(podRecords.store(pod)).to.equal(pod);
    expect(podRecords.store(podNamed('a'))).to.be.an('array');
  });
});
