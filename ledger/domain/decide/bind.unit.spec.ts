import { expect } from 'chai';
import { type Bind, noBindingTimeoutMs, type Unbind } from '../commands/command.ts';
import { decide } from './decide.ts';
import type { UnbindCause } from '../values/allocation.ts';
import { allocated, bound, released, subnetConfigured, transferred, unbound } from '../testing/event-fixtures.ts';
import { foldEvents, given, startTime, type Untimed } from '../testing/given-when-then.ts';

const one = allocated('one', '172.17.0.11');
const bind = (more: Partial<Bind> = {}): Untimed => ({
  type: 'Bind',
  namespace: 'default',
  pod: 'one',
  uid: 'uid-one',
  provider: 'macvlan.default',
  containerId: 'container-1',
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot-1',
  ...more,
});
const unbind = (
  containerId = 'container-1',
  cause: UnbindCause = 'container-deleted',
  more: Partial<Unbind> = {},
): Untimed => ({
  type: 'Unbind',
  containerId,
  interface: 'net1',
  cause,
  ...more,
});

describe('Bind', () => {
  it('Bind records the container that uses the allocation', () => {
    given([subnetConfigured(), one])
      .when(bind())
      .then([bound(one, 2)]);
  });

  it('Bind records nothing for a container that is already bound', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(bind())
      .thenNothingHappens();
  });

  it('Bind records the same container again after its allocation was transferred', () => {
    const again = transferred(one, 2, 'uid-again');
    given([subnetConfigured(), one, bound(one, 2), again])
      .when(bind({ uid: 'uid-again' }))
      .then([bound(again, 4)]);
  });

  it('Bind records the same container again after a reboot of its node', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(bind({ bootId: 'boot-2' }))
      .then([bound(one, 2, { bootId: 'boot-2' })]);
  });

  it('Bind is refused for another Pod uid, which needs its own allocation', () => {
    given([subnetConfigured(), one])
      .when(bind({ uid: 'uid-new' }))
      .thenRefused('NOT_ALLOCATED', 'Pod default/one (uid uid-new) has no allocation for provider macvlan.default');
  });

  it('Bind adds a second binding for a second sandbox while the first exists', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(bind({ containerId: 'container-2' }))
      .then([bound(one, 2, { containerId: 'container-2' })]);
  });

  it('Bind assigns unnamed attachments of one network in the order of their ADDs', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second, bound(one, 2)])
      .when(bind({ interface: 'net2' }))
      .then([bound(second, 3, { interface: 'net2' })]);
  });

  it('Bind finds a named attachment by its name, in any order', () => {
    const named = allocated('one', '172.17.0.12', { ordinal: 1, interface: 'data0' });
    given([subnetConfigured(), one, named])
      .when(bind({ interface: 'data0' }))
      .then([bound(named, 3, { interface: 'data0' })]);
  });

  it('Bind finds the attachment of a new sandbox by the name from the first ADD', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second, bound(one, 2), bound(second, 3, { interface: 'net2' })])
      .when(bind({ containerId: 'container-2', interface: 'net2' }))
      .then([bound(second, 3, { containerId: 'container-2', interface: 'net2' })]);
  });

  it('Bind finds the attachment of a new sandbox whose list of networks has changed, once no container is bound to it', () => {
    const elsewhere = bind({ containerId: 'container-2', interface: 'net2' });
    const history = [subnetConfigured(), one, bound(one, 2)];
    given(history).when(elsewhere).thenRefused('NOT_ALLOCATED', 'has no allocation for provider macvlan.default');
    given([...history, unbound(one)])
      .when(elsewhere)
      .then([bound(one, 2, { containerId: 'container-2', interface: 'net2' })]);
  });

  it('Bind gives no attachment that the Pod names to another interface', () => {
    const named = allocated('one', '172.17.0.12', { interface: 'data0' });
    given([subnetConfigured(), named])
      .when(bind({ interface: 'net2' }))
      .thenRefused('NOT_ALLOCATED', 'has no allocation for provider macvlan.default');
  });

  it('Bind gives an interface that the Pod names no attachment that an earlier sandbox had by its place', () => {
    given([subnetConfigured(), one, bound(one, 2), unbound(one)])
      .when(bind({ containerId: 'container-2', interface: 'data0' }))
      .thenRefused('NOT_ALLOCATED', 'has no allocation for provider macvlan.default');
  });

  it('Bind takes an attachment without a name before one that an earlier sandbox named', () => {
    const second = allocated('one', '172.17.0.12', { ordinal: 1 });
    given([subnetConfigured(), one, second, bound(one, 2), unbound(one)])
      .when(bind({ containerId: 'container-2', interface: 'net2' }))
      .then([bound(second, 3, { containerId: 'container-2', interface: 'net2' })]);
  });
});

describe('Bind on another node', () => {
  const hourMs = 3_600_000;
  const again = transferred(one, 2, 'uid-again');
  const history = [subnetConfigured(), one, bound(one, 2), again];
  const elsewhere = (more: Partial<Bind> = {}): Untimed =>
    bind({ uid: 'uid-again', containerId: 'container-2', node: 'node-2', bootId: 'boot-2', ...more });
  const accepted = [bound(again, 4, { containerId: 'container-2', node: 'node-2', bootId: 'boot-2' })];

  it('Bind on another node is refused while a container of the earlier Pod may still answer, and names it and the remedies', () => {
    given(history)
      .when(elsewhere())
      .thenRefused(
        'ADDRESS_ANSWERING',
        '172.17.0.11 of subnet macvlan cannot be bound on node node-2: container container-1 (net1) on node node-1 may still answer on it. Bind waits until the CNI DEL of that container, a reboot of node-1, or 2026-01-31T09:00:03.000Z. If node-1 does not come back, delete its Node, or taint it with node.kubernetes.io/out-of-service',
      );
  });

  it('Bind on another node names neither the other node nor its container to a caller for one node only', () => {
    given(history)
      .when(elsewhere({ onlyNode: 'node-2' }))
      .thenRefused(
        'ADDRESS_ANSWERING',
        /^(?!.*node-1)(?!.*container-1)172\.17\.0\.11 .*: a container on another node may still answer on it\. Bind waits until the CNI DEL of that container, a reboot of its node, or 2026-01-31T09:00:03\.000Z\. /,
      );
  });

  it('Bind on another node succeeds after the CNI DEL of the container on the other node', () => {
    given([...history, unbound(one)])
      .when(elsewhere())
      .then(accepted);
  });

  it('Bind on another node succeeds after the other node was rebooted, deleted or taken out of service', () => {
    for (const cause of ['node-rebooted', 'node-deleted', 'node-out-of-service'] as const)
      given([...history, unbound(one, 'container-1', { cause })])
        .when(elsewhere())
        .then(accepted);
  });

  it('Bind on another node succeeds after the binding timeout of the Subnet, counted from the transfer', () => {
    given(history)
      .whenAfter(hourMs - 1, elsewhere())
      .thenRefused('ADDRESS_ANSWERING', 'may still answer');
    given(history).whenAfter(hourMs, elsewhere()).then(accepted);
  });

  it('Bind on another node is refused forever in a Subnet without a binding timeout, and the message names no time', () => {
    given([subnetConfigured('macvlan', { bindingTimeoutMs: noBindingTimeoutMs }), ...history.slice(1)])
      .whenAfter(10 * 365 * 24 * hourMs, elsewhere())
      .thenRefused(
        'ADDRESS_ANSWERING',
        'Bind waits until the CNI DEL of that container, or a reboot of node-1. If node-1 does not come back',
      );
  });

  it('Bind on another node counts the timeout from the other binding if both are of the same Pod', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .whenAfter(hourMs - 1, bind({ containerId: 'container-2', node: 'node-2' }))
      .thenRefused('ADDRESS_ANSWERING', 'container container-1 (net1) on node node-1');
  });

  it('Bind on another node succeeds on the same node, where a sandbox is created again', () => {
    given(history)
      .when(elsewhere({ node: 'node-1', bootId: 'boot-1' }))
      .then([bound(again, 4, { containerId: 'container-2' })]);
  });

  it('Bind on another node succeeds for another Pod that got the address after the binding timeout of the first Pod', () => {
    const two = allocated('two', '172.17.0.11');
    given([subnetConfigured(), one, bound(one, 2), released(one, 2), two])
      .when(elsewhere({ pod: 'two', uid: 'uid-two' }))
      .then([bound(two, 5, { containerId: 'container-2', node: 'node-2', bootId: 'boot-2' })]);
  });

  it('Bind on another node is refused for a virtual machine that was started again, and succeeds for a virtual machine that migrates', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'one', uid: 'uid-one' };
    const machine = { ...one, data: { ...one.data, owner } };
    const moves = bind({ containerId: 'container-2', node: 'node-2', bootId: 'boot-2' });
    expect(given([subnetConfigured(), machine, bound(machine, 2)]).when(moves).events).to.have.length(1);
    const started = { ...again, data: { ...again.data, owner } } as typeof again;
    given([subnetConfigured(), machine, bound(machine, 2), started])
      .when(elsewhere())
      .thenRefused('ADDRESS_ANSWERING', 'container container-1 (net1) on node node-1');
  });

  it('Bind on another node records nothing for a container that is already bound on its node', () => {
    given([...history, ...accepted])
      .when(elsewhere())
      .thenNothingHappens();
  });
});

describe('Unbind', () => {
  it('Unbind by an operator ends no binding of a current allocation', () => {
    const byPerson = unbind('container-1', 'garbage-collected', { releasedOnly: true });
    given([subnetConfigured(), one, bound(one, 2)])
      .when(byPerson)
      .thenRefused('ADDRESS_IN_USE', 'Pod default/one holds 172.17.0.11 of subnet macvlan');
    given([subnetConfigured(), one, bound(one, 2), released(one, 2)])
      .when(byPerson)
      .then([unbound(one, 'container-1', { cause: 'garbage-collected' })]);
  });

  it('Unbind ends the binding of its container', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(unbind())
      .then([unbound(one)]);
  });

  it('Unbind of a container that is bound to two Pods records one event for each, in the order of the Pods', () => {
    const two = allocated('two', '172.17.0.12');
    given([subnetConfigured(), one, two, bound(two, 3), bound(one, 2)])
      .when(unbind())
      .then([unbound(one), unbound(two)]);
    given([subnetConfigured(), one, two, bound(one, 2), bound(two, 3)])
      .when(unbind())
      .then([unbound(one), unbound(two)]);
  });

  it('Unbind ends the use of both addresses of a dual-stack allocation by one event', () => {
    const second = { address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' };
    const pair = { ...one, data: { ...one.data, addresses: [...one.data.addresses, second] } };
    const dual = subnetConfigured('macvlan', { cidrBlock: '172.17.0.0/16,fd00::/64', gateway: '172.17.0.1,fd00::1' });
    given([dual, pair, bound(pair, 2)])
      .when(unbind())
      .then([unbound(pair)]);
  });

  it('Unbind records the cause if it was no CNI DEL', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(unbind('container-1', 'node-deleted'))
      .then([unbound(one, 'container-1', { cause: 'node-deleted' })]);
  });

  it('Unbind records the evidence that the container does not exist', () => {
    const evidence = 'its network namespace /run/netns/cni-1 is deleted';
    given([subnetConfigured(), one, bound(one, 2)])
      .when(unbind('container-1', 'garbage-collected', { evidence }))
      .then([unbound(one, 'container-1', { cause: 'garbage-collected', evidence })]);
  });

  it('Unbind of the old sandbox keeps the binding of the new sandbox', () => {
    given([subnetConfigured(), one, bound(one, 2), bound(one, 2, { containerId: 'container-2' }), unbound(one)])
      .when(unbind('container-2'))
      .then([unbound(one, 'container-2')]);
  });

  it('Unbind ends a binding whose allocation was released', () => {
    given([subnetConfigured(), one, bound(one, 2), released(one, 2)])
      .when(unbind())
      .then([unbound(one)]);
  });

  it('Unbind does nothing for an unknown container', () => {
    given([subnetConfigured(), one]).when(unbind()).thenNothingHappens();
  });

  it('Unbind does nothing for a fenced address, so that the Pod can be deleted', () => {
    const state = foldEvents([subnetConfigured(), one, bound(one, 2)]);
    state.fenced.add('macvlan/172.17.0.11');
    expect(decide(state, { ...unbind(), now: startTime })).to.deep.equal({ kind: 'accepted', events: [] });
  });

  it('Unbind does nothing for a binding that a reboot of the node ended', () => {
    const rebooted = bound(one, 2, { containerId: 'container-2', bootId: 'boot-2' });
    given([subnetConfigured(), one, bound(one, 2), rebooted])
      .when(unbind())
      .thenNothingHappens();
  });
});

describe('A caller for one node only', () => {
  const here = { onlyNode: 'node-1' };
  const there = { onlyNode: 'node-2', node: 'node-2', containerId: 'container-2' };

  for (const [what, node] of [
    ['runs there', 'node-1'],
    ['has no node yet', ''],
  ] as const)
    it(`A caller for one node only binds a Pod that ${what}`, () => {
      const pod = allocated('one', '172.17.0.11', { node });
      given([subnetConfigured(), pod])
        .when(bind(here))
        .then([bound(pod, 2)]);
    });

  it('A caller for one node only is refused a Bind of a Pod that was allocated for another node', () => {
    given([subnetConfigured(), allocated('one', '172.17.0.11', { node: 'node-1' })])
      .when(bind(there))
      .thenRefused('PERMISSION_DENIED', 'Pod default/one does not run on node node-2');
  });

  it('A caller for one node only is refused a Bind of a Pod whose first Bind was on another node', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(bind(there))
      .thenRefused('PERMISSION_DENIED', 'Pod default/one does not run on node node-2');
  });

  it('A caller for one node only binds a virtual machine on the node that it migrates to, while it is bound on the other node', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'one', uid: 'uid-one' };
    const machine = { ...one, data: { ...one.data, owner } };
    const second = { containerId: 'container-2', node: 'node-2' };
    given([subnetConfigured(), machine, bound(machine, 2)])
      .when(bind(there))
      .then([bound(machine, 2, second)]);
  });

  it('A caller for one node only ends bindings of that node', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(unbind('container-1', 'container-deleted', here))
      .then([unbound(one)]);
  });

  it('A caller for one node only keeps the binding of another node without a refusal, so that the Pod can be deleted', () => {
    given([subnetConfigured(), one, bound(one, 2)])
      .when(unbind('container-1', 'container-deleted', { onlyNode: 'node-2' }))
      .thenNothingHappens();
  });
});
