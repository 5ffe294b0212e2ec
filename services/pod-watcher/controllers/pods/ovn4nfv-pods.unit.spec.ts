import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import { appliedSubnet, heldAllocation, podNamed, type PodParts, subnetNamed, until } from '../../testing/fakes.ts';
import {
  allocationEnded,
  beingDeleted,
  createPodControllerWorld,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

const provider = 'ovn4nfv.kube-system.ovn';
const networks = ['ovn-ls-25', 'ovn-ls-26'];
const ovnNetwork = JSON.stringify(networks.map((name, index) => ({ name, interface: `net${index}` })));
const podWithRequest = (name: string, parts: PodParts = {}): Pod =>
  podNamed(name, { ...parts, annotations: { ovnNetwork } });
const heldBy = (pod: string, seq: number) =>
  networks.map((subnet, ordinal) =>
    heldAllocation(pod, { seq: seq + ordinal, provider, ordinal, subnet, interface: `net${ordinal}` }),
  );

describe('A Pod with an OVN4NFV request', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(options: PodControllerWorldOptions = {}) {
    const scene = createPodControllerWorld(stop.signal, options);
    for (const name of networks) {
      scene.objects.put(subnetNamed(name, { provider }));
      scene.sendEvents(51, { kind: 'subnet-configured', subnet: appliedSubnet(name, provider) });
    }
    return scene;
  }

  it('A Pod with an OVN4NFV request gets all its NICs by one command', async () => {
    const { pods, allocator, controller } = world();
    controller.start();
    pods.put(podWithRequest('a'));
    await until(() => allocator.allocated.length === 1);
    await waitForIdle();
    expect(allocator.allocated).to.have.length(1);
    expect(
      allocator.allocated[0]?.attachments?.map((each) => [each.provider, each.ordinal, each.subnets]),
    ).to.deep.equal([
      [provider, 0, ['ovn-ls-25']],
      [provider, 1, ['ovn-ls-26']],
    ]);
  });

  it('A Pod with an OVN4NFV request gets nothing if it uses the network of its node', async () => {
    const { pods, allocator, controller } = world();
    controller.start();
    pods.put(podWithRequest('host', { spec: { hostNetwork: true } }));
    await waitForIdle();
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('A Pod with an OVN4NFV request named web-10 keeps its NICs when web-1 is deleted', async () => {
    const { pods, allocator, sendEvents, controller } = world({
      allocations: [...heldBy('web-1', 1), ...heldBy('web-10', 11)],
    });
    for (const name of ['web-1', 'web-10']) pods.put(podWithRequest(name));
    controller.start();
    pods.drop(beingDeleted(podWithRequest('web-1')));
    await until(() => allocator.released.length === 1);
    sendEvents(60, ...heldBy('web-1', 1).map(allocationEnded));
    await waitForIdle();
    expect(allocator.released.map(({ pod, podUid }) => [pod, podUid])).to.deep.equal([['web-1', 'uid-web-1']]);
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('A Pod with an OVN4NFV request is released repeatedly until the release succeeds', async () => {
    const { pods, allocator, controller } = world({ allocations: heldBy('a', 1) });
    pods.put(podWithRequest('a'));
    controller.start();
    let failures = 2;
    allocator.refuse = () => (failures-- > 0 ? new IpledgerError('UNAVAILABLE', 'no connection') : undefined);
    pods.drop(beingDeleted(podWithRequest('a')));
    await until(() => allocator.released.length === 3);
  });

  it('A Pod with an OVN4NFV request keeps its NICs when its request is removed or changed', async () => {
    const { pods, allocator, controller } = world({ allocations: heldBy('a', 1) });
    pods.put(podWithRequest('a'));
    controller.start();
    pods.put(podNamed('a', { annotations: { ovnNetwork: '[{"name": "ovn-ls-26", "interface": "net7"}]' } }));
    pods.put(podNamed('a'));
    await waitForIdle();
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
  });
});
