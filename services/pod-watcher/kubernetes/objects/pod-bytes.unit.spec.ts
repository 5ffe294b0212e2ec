import { expect } from 'chai';
import fc from 'fast-check';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import { claimant, launcher, mirrorOf, podNamed } from '../../testing/fakes.ts';
import { podBytes } from './pod-bytes.ts';
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

describe('a Pod as bytes', () => {
  it('is decoded as it was', () => {
    let encoded = 0;
    fc.assert(
      fc.property(anyPod, (pod) => {
        const bytes = podBytes.encode(pod);
        if (bytes === undefined) return;
        encoded++;
        expect(podBytes.decode(bytes)).to.deep.equal(pod);
        expect(Object.keys(podBytes.decode(bytes).annotations)).to.deep.equal(Object.keys(pod.annotations));
        expect(podBytes.keyOf(bytes)).to.equal(keyOf(pod));
      }),
      { numRuns: 300 },
    );
    expect(encoded).to.be.above(10);
  });

  it('is not made of a Pod with an unusual field', () => {
    const unusual: Pod[] = [
      claimant('a'),
      launcher('a'),
      { ...podNamed('a'), claimRefusal: 'no such machine' },
      podNamed('a', { metadata: { deletionTimestamp: '2026-11-24T14:00:00Z' } }),
      podNamed('a', { status: { phase: 'Failed', reason: 'Evicted' } }),
      podNamed('a', { spec: { terminationGracePeriodSeconds: -1 } }),
      podNamed('a', { spec: { terminationGracePeriodSeconds: 0.5 } }),
      podNamed('a', { annotations: { 'macvlan.default.kubernetes.io/ip_address': 'x'.repeat(2_000) } }),
      mirrorOf('a', '0'.repeat(32)),
    ];
    expect(unusual.map((pod) => podBytes.encode(pod))).to.deep.equal(unusual.map(() => undefined));
    expect(podBytes.encode(podNamed('a'))).to.be.a('string');
  });
});
