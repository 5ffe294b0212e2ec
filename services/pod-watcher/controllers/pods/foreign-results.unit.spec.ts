import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { heldAllocation, type PodParts, until } from '../../testing/fakes.ts';
import { networksAnnotation, type Pod } from '../../kubernetes/objects/pod.ts';
import { foreignResultKeys } from './foreign-results.ts';
import {
  createPodControllerWorld,
  macvlan,
  podWithNetwork,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

/** Makes the result annotations of a copied Pod's original, and its request. */
const resultsOf = (provider: string): Record<string, string> => ({
  [`${provider}.kubernetes.io/allocated`]: 'true',
  [`${provider}.kubernetes.io/ip_address`]: '192.168.77.5',
  [`${provider}.kubernetes.io/cidr`]: '192.168.77.0/24',
  [`${provider}.kubernetes.io/gateway`]: '192.168.77.1',
});
const removedOf = (provider: string): string[] =>
  ['allocated', 'cidr', 'gateway'].map((suffix) => `${provider}.kubernetes.io/${suffix}`);
const outOfRange = new IpledgerError('ADDRESS_OUT_OF_RANGE', '192.168.77.5 is not a host address of subnet macvlan');

describe('annotations that show an allocation of another Pod', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);
  const copied = (parts: PodParts = {}, provider = 'macvlan.default'): Pod =>
    podWithNetwork('a', {
      status: { phase: 'Pending' },
      ...parts,
      annotations: { ...resultsOf(provider), ...parts.annotations },
    });

  it('foreign annotations are removed once the request is refused, with an Event; the requested address stays', async () => {
    const { pods, allocator, podEvents, removedAnnotations, controller } = world();
    allocator.refuse = () => outOfRange;
    controller.start();
    pods.put(copied());
    await until(() => removedAnnotations.length > 0);
    expect(removedAnnotations).to.deep.equal([{ pod: 'a', keys: removedOf('macvlan.default') }]);
    await until(() => podEvents.some(({ podEvent }) => podEvent.reason === 'PodNetworkResultRemoved'));
    const event = podEvents.find(({ podEvent }) => podEvent.reason === 'PodNetworkResultRemoved');
    expect(event?.podEvent.message).to.contain('macvlan.default.kubernetes.io/allocated').and.contain('no request');
  });

  it('foreign annotations are removed if an invalid annotation prevents the request', async () => {
    const { pods, removedAnnotations, controller } = world();
    controller.start();
    pods.put(copied({ annotations: { 'macvlan.default.kubernetes.io/mac_address': 'x' } }));
    await until(() => removedAnnotations.length > 0);
    expect(removedAnnotations[0]?.keys).to.deep.equal(removedOf('macvlan.default'));
  });

  it('foreign annotations are removed from a Pod that does not select their network', async () => {
    const { pods, allocator, removedAnnotations, controller } = world();
    controller.start();
    pods.put(copied({ annotations: { [networksAnnotation]: '' } }));
    await until(() => removedAnnotations.length > 0);
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('foreign annotations are removed once, also if another client adds them again', async () => {
    const { pods, allocator, removedAnnotations, controller } = world();
    allocator.refuse = () => outOfRange;
    controller.start();
    pods.put(copied());
    await until(() => removedAnnotations.length > 0);
    const tries = allocator.allocated.length;
    pods.put({ ...copied(), resourceVersion: '9' });
    await until(() => allocator.allocated.length > tries + 1);
    expect(removedAnnotations).to.have.length(1);
  });

  const kept: [what: string, parts: PodParts, refusal: IpledgerError | undefined, provider?: string][] = [
    ['of a granted request, which the projection writes', {}, undefined],
    ['while the request has no answer', {}, new IpledgerError('UNAVAILABLE', 'no writer')],
    ['while the ledger is frozen, as evidence', {}, new IpledgerError('LEDGER_FROZEN', 'restored')],
    ['of a Pod that has run, as evidence', { status: { phase: 'Running' } }, outOfRange],
    ['of a network that another plugin may serve', {}, undefined, 'macvlan.other'],
    ['of the primary network, which Kube-OVN may serve', {}, undefined, 'ovn'],
  ];
  for (const [what, parts, refusal, provider] of kept)
    it(`annotations stay on a Pod: those ${what}`, async () => {
      const { pods, allocator, removedAnnotations, controller } = world();
      allocator.refuse = () => refusal;
      controller.start();
      pods.put(copied(parts, provider));
      await until(() => allocator.allocated.length > 0);
      await waitForIdle();
      expect(removedAnnotations).to.deep.equal([]);
    });

  it('foreign annotations include the answer to a request of OVN4NFV, but not the request', () => {
    const provider = 'ovn4nfv.kube-system.ovn';
    const annotations = { ...resultsOf(provider), ovnNetwork: '[{"name":"lan"}]', ovnIfaceList: '[]', ovn: '{}' };
    const pod = podWithNetwork('a', { status: { phase: 'Pending' }, annotations });
    expect(foreignResultKeys(pod, [], new Set([provider]))).to.have.members([...removedOf(provider), 'ovnIfaceList']);
    expect(foreignResultKeys(pod, [heldAllocation('a', { provider })], new Set())).to.deep.equal([]);
  });

  it('foreign annotations stay on a Pod with a field over its limit, which may request any network', () => {
    const pod = podWithNetwork('a', { status: { phase: 'Pending' }, annotations: resultsOf('old.default') });
    expect(foreignResultKeys(pod, [], new Set())).to.have.members(removedOf('old.default'));
    const unread = { ...pod, problems: ['the annotations have more than 262144 bytes'] };
    expect(foreignResultKeys(unread, [], new Set())).to.deep.equal([]);
  });

  it('foreign annotations stay while the network is missing', async () => {
    const { pods, networks, podEvents, removedAnnotations, controller } = world();
    networks.drop(macvlan);
    controller.start();
    pods.put(copied());
    await until(() => podEvents.length > 0);
    expect(removedAnnotations).to.deep.equal([]);
  });

  it('annotations stay for what the Pod holds, and are removed for its other network', async () => {
    const { pods, removedAnnotations, controller } = world({ allocations: [heldAllocation('a')] });
    controller.start();
    pods.put(copied({ annotations: resultsOf('old.default') }));
    await until(() => removedAnnotations.length > 0);
    expect(removedAnnotations[0]?.keys).to.deep.equal(removedOf('old.default'));
  });

  it('foreign annotations stay if the Pod has changed since the refusal, until the next refusal', async () => {
    const { pods, allocator, removedAnnotations, controller } = world();
    let tries = 0;
    allocator.refuse = () => {
      tries += 1;
      if (tries === 1) pods.objects.set('default/a', { ...copied(), resourceVersion: 'newer' });
      return outOfRange;
    };
    controller.start();
    pods.put(copied());
    await until(() => removedAnnotations.length > 0);
    expect(tries).to.be.greaterThan(1);
  });
});
