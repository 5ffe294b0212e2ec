import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import { podNamed, until } from '../../testing/fakes.ts';
import { allocationEnded, createPodControllerWorld, podWithNetwork } from './testing/pod-controller-world.ts';

describe('a Pod that changes its networks again and again', () => {
  it('a Pod that changes its networks repeatedly requests addresses at a limited rate, which an Event reports; other Pods are served', async () => {
    const stop = new AbortController();
    const { controller, pods, allocator, allocations, podEvents, sendEvents } = createPodControllerWorld(
      stop.signal,
      {},
    );
    controller.start();
    const toggling = podWithNetwork('toggling');
    // Selects the network of the Pod 200 times, and no network in between.
    for (let toggle = 1; toggle <= 200 && podEvents.length === 0; toggle++) {
      pods.put(toggling);
      await until(() => allocations.isSettled('default/toggling', 'uid-toggling') || podEvents.length > 0);
      pods.put({ ...toggling, annotations: {} });
      const [held] = allocations.allocationsOf('default/toggling', 'uid-toggling');
      if (!held) break;
      await until(() => allocator.released.length === toggle);
      sendEvents(held.seq, allocationEnded(held));
    }
    expect(allocator.allocated.length).to.be.at.most(48);
    expect(podEvents[0]?.podEvent.message).to.match(/the networks of the Pod change too often.*Change them less often/);
    pods.put(podWithNetwork('other'));
    await until(() => allocator.allocated.some(({ pod }) => pod?.name === 'other'));
    stop.abort();
  });
});

describe('a Pod whose requests have no answer', () => {
  it('a Pod whose requests have no answer gets its addresses with the first answer: only answered requests count for its budget', async () => {
    const stop = new AbortController();
    const { controller, pods, allocator, allocations } = createPodControllerWorld(stop.signal, {});
    controller.start();
    let failures = 0;
    allocator.refuse = () => (failures++ < 5 ? new IpledgerError('UNAVAILABLE', 'no writer') : undefined);
    const networks = Array.from({ length: 16 }, () => 'macvlan').join(', ');
    pods.put(podNamed('many', { annotations: { [networksAnnotation]: networks } }));
    await until(() => allocations.allocationsOf('default/many', 'uid-many').length > 0);
    expect(failures).to.equal(6);
    stop.abort();
  });
});
