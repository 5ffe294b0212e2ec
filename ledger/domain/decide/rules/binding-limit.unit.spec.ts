import { expect } from 'chai';
import type { Event } from '../../events/event.ts';
import { claimOf } from '../../state/state.ts';
import { allocated, bound, subnetConfigured, unbound } from '../../testing/event-fixtures.ts';
import { foldEvents, given, type Untimed } from '../../testing/given-when-then.ts';
import { maxBindings } from './binding-limit.ts';

const machine = { kind: 'VirtualMachineInstance', name: 'one', uid: 'uid-one' };
const plain = allocated('one', '172.17.0.11');
const one = { ...plain, data: { ...plain.data, owner: machine } };
const bind = (containerId: string, node = 'node-1', bootId = 'boot-1'): Untimed => ({
  type: 'Bind',
  namespace: 'default',
  pod: 'one',
  uid: 'uid-one',
  provider: 'macvlan.default',
  containerId,
  interface: 'net1',
  node,
  bootId,
});
const boundOn = (node: string, count: number, from = 1): Event[] =>
  Array.from({ length: count }, (_, index) => bound(one, 2, { containerId: `container-${from + index}`, node }));

describe('Bind on an address with many bindings', () => {
  it('Bind on an address with many bindings binds 16 containers without ending a binding', () => {
    given([subnetConfigured(), one, ...boundOn('node-1', 15)])
      .when(bind('container-16'))
      .then([bound(one, 2, { containerId: 'container-16' })]);
  });

  it('Bind on an address with many bindings ends the oldest binding of the same node when a 17th container is bound', () => {
    given([subnetConfigured(), one, ...boundOn('node-1', 16)])
      .when(bind('container-17'))
      .then([
        unbound(one, 'container-1', { cause: 'garbage-collected' }),
        bound(one, 2, { containerId: 'container-17' }),
      ]);
  });

  it('Bind on an address with many bindings keeps bindings of other nodes, also if they are older', () => {
    given([subnetConfigured(), one, ...boundOn('node-2', 10), ...boundOn('node-1', 6, 11)])
      .when(bind('container-17'))
      .then([
        unbound(one, 'container-11', { cause: 'garbage-collected' }),
        bound(one, 2, { containerId: 'container-17' }),
      ]);
  });

  it('Bind on an address with many bindings does not count bindings of an earlier boot of the node, which the new binding ends', () => {
    given([subnetConfigured(), one, ...boundOn('node-1', 16)])
      .when(bind('container-17', 'node-1', 'boot-2'))
      .then([bound(one, 2, { containerId: 'container-17', bootId: 'boot-2' })]);
  });

  it('Bind on an address with many bindings refuses a 17th binding when all others are on other nodes, and names them', () => {
    given([subnetConfigured(), one, ...boundOn('node-2', 16)])
      .when(bind('container-17'))
      .thenRefused('ADDRESS_IN_USE', /172\.17\.0\.11 on node node-1: 16 containers on other nodes \(node-2\)/);
  });

  it('Bind on an address with many bindings names no other node to a caller for one node only', () => {
    given([subnetConfigured(), one, ...boundOn('node-2', 16)])
      .when({ ...bind('container-17'), onlyNode: 'node-1' } as Untimed)
      .thenRefused('ADDRESS_IN_USE', /^(?!.*node-2).*16 containers on other nodes are bound to it/);
  });

  it('Bind on two addresses with many bindings ends the oldest binding of both with one event', () => {
    const second = { address: '172.17.0.12', cidr: '172.17.0.0/16', gateway: '172.17.0.1' };
    const pair = { ...one, data: { ...one.data, addresses: [...one.data.addresses, second] } };
    const binds = Array.from({ length: 16 }, (_, index) => bound(pair, 2, { containerId: `container-${index + 1}` }));
    given([subnetConfigured(), pair, ...binds])
      .when(bind('container-17'))
      .then([
        unbound(pair, 'container-1', { cause: 'garbage-collected' }),
        bound(pair, 2, { containerId: 'container-17' }),
      ]);
  });

  it('Bind on an address with many bindings shrinks a claim of an older version that exceeds the limit', () => {
    const { events } = given([subnetConfigured(), one, ...boundOn('node-1', 40)]).when(bind('container-41'));
    expect(events).to.have.length(17);
  });

  it('Bind on an address with many bindings keeps a claim at 16 bindings when one agent binds any number of containers', () => {
    let events: readonly Event[] = [subnetConfigured(), one];
    for (let container = 1; container <= 60; container++)
      events = [...events, ...given(events).when(bind(`container-${container}`)).events];
    const claim = claimOf(foldEvents(events), 'macvlan', '172.17.0.11');
    expect(claim?.bindings).to.have.length(maxBindings);
    expect(claim?.bindings.at(-1)?.containerId).to.equal('container-60');
  });
});

describe('Bind of a container interface that has many addresses', () => {
  const pods = Array.from({ length: 17 }, (_, index) => allocated(`pod-${index}`, `172.17.1.${index}`));
  const binds = pods.slice(0, 16).map((pod, index) => bound(pod, index + 2, { containerId: 'many' }));
  const bindLast = (changes: Partial<Extract<Untimed, { type: 'Bind' }>> = {}): Untimed => {
    const request = { ...bind('many'), pod: 'pod-16', uid: 'uid-pod-16', ...changes };
    return request as Untimed;
  };
  const last = pods[16] as (typeof pods)[0];

  it('Bind of a container interface that has many addresses is refused beyond 16 addresses on a node, so that one Unbind costs a bounded number of claims', () => {
    given([subnetConfigured(), ...pods, ...binds])
      .when(bindLast())
      .thenRefused(
        'INVALID_REQUEST',
        /container many \(net1\) is bound to 16 addresses already, and that is the limit/,
      );
  });

  it('Bind of a container interface that has many addresses is accepted for another interface, another container, and on another node', () => {
    for (const [changes, fields] of [
      [{ interface: 'net2' }, { containerId: 'many', interface: 'net2' }],
      [{ containerId: 'other' }, { containerId: 'other' }],
      [{ node: 'node-2' }, { containerId: 'many', node: 'node-2' }],
    ] as const)
      given([subnetConfigured(), ...pods, ...binds])
        .when(bindLast(changes))
        .then([bound(last, 18, fields)]);
  });
});
