import { expect } from 'chai';
import { pino } from 'pino';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { SandboxBinding, UnbindRequest } from '../../../../proto/generated/ipledger.ts';
import { FakeInformer, silentLogger, until } from '../../testing/fakes.ts';
import { type NodeObject, nodes as nodeKind } from '../../kubernetes/objects/node.ts';
import type { LedgerEvent } from '../../ledger/ledger-events.ts';
import { NodeController, type NodeControllerOptions } from './node-controller.ts';
import { waitForIdle } from '../pods/testing/pod-controller-world.ts';

const nodeNamed = (name: string, uid = `uid-${name}`, spec: object = {}): NodeObject =>
  nodeKind.parse({ metadata: { name, uid, resourceVersion: '1' }, spec });

/** Makes a Node with the out-of-service taint. */
const outOfService = (name: string, timeAdded?: string): NodeObject =>
  nodeNamed(name, undefined, {
    taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute', timeAdded }],
  });

const hour = 3_600_000;
/** The ledger time of the bindings. */
const boundAt = '2026-01-31T08:00:00Z';

/** Makes the binding of net1 of a container of Pod `pod` to 10.0.0.<last>. */
function bindingOf(pod: string, last: number, at = boundAt): SandboxBinding {
  return {
    attachment: { namespace: 'default', pod, provider: 'macvlan.default', ordinal: 0 },
    subnet: 'macvlan',
    addresses: [`10.0.0.${last}`],
    binding: {
      containerId: `container-of-${pod}`,
      interface: 'net1',
      node: '',
      bootId: '',
      at,
    },
    allocationSeq: 7,
  };
}

/** A logger, and the lines that it has written. */
function recordingLogger() {
  const lines: object[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as object);
  return { lines, log: pino({ base: null, timestamp: false }, { write }) };
}

describe('the bindings of a Node', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** Makes Nodes "n0", "n1", …, and their bindings. */
  function world(count: number, bound: Record<string, SandboxBinding[]>, more: Partial<NodeControllerOptions> = {}) {
    const source = new FakeInformer<NodeObject>();
    const bindings = new Map(Object.entries(bound));
    const unbound: MessageInput<UnbindRequest>[] = [];
    const held = new Set<string>();
    /** Nodes that a look-up finds although the watch has deleted them. */
    const exist = new Set<string>();
    const alarms: (string | undefined)[] = [];
    const listed: string[] = [];
    const lookedUp: string[] = [];
    const nodes = new NodeController({
      nodes: source,
      allocator: fakeLedgerClient({
        listBindings: ({ node = '', pageToken }) => {
          listed.push(node);
          const [first, ...rest] = (bindings.get(node) ?? []).slice(Number(pageToken));
          const nextPageToken = rest.length > 0 ? String(Number(pageToken) + 1) : '';
          return { bindings: first ? [first] : [], nextPageToken };
        },
        unbind: (request) => {
          unbound.push(request);
          return { unbound: 1 };
        },
      }),
      isAddressHeld: ({ attachment }) => held.has(`default/${attachment?.pod}`),
      nodeExists: (name) => {
        lookedUp.push(name);
        return Promise.resolve(source.objects.has(name) || exist.has(name));
      },
      alarm: (message) => alarms.push(message),
      leaseNamespace: 'ipledger-system',
      settleMs: 10,
      log: silentLogger,
      signal: stop.signal,
      ...more,
    });
    for (let index = 0; index < count; index++) source.put(nodeNamed(`n${index}`));
    return { source, bindings, unbound, held, exist, alarms, listed, lookedUp, nodes };
  }
  const released: LedgerEvent = {
    kind: 'released',
    seq: 1,
    subnet: 'macvlan',
    namespace: 'default',
    pod: 'a',
    uid: 'u',
    addresses: [],
  };

  it('the bindings of a deleted Node end for released addresses, on all pages, with the cause', async () => {
    const { source, unbound, nodes } = world(1, { n0: [bindingOf('a', 2), bindingOf('b', 3)] });
    await nodes.start();
    source.drop(nodeNamed('n0'));
    await until(() => unbound.length === 2);
    expect(unbound).to.deep.equal(
      ['a', 'b'].map((pod) => ({
        namespace: 'default',
        pod,
        provider: 'macvlan.default',
        containerId: `container-of-${pod}`,
        interface: 'net1',
        cause: 'UNBIND_CAUSE_NODE_DELETED',
        evidence: 'Node n0 (uid uid-n0) is deleted',
      })),
    );
  });

  it('the bindings of a Node that is tainted as out of service end for released addresses, with that cause', async () => {
    const { source, bindings, unbound, held, nodes } = world(1, { n0: [bindingOf('a', 2), bindingOf('b', 3)] });
    held.add('default/b');
    await nodes.start();
    source.put(outOfService('n0'));
    await until(() => unbound.length === 1);
    expect(unbound[0]).to.include({
      pod: 'a',
      cause: 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE',
      evidence: 'Node n0 (uid uid-n0) has the taint node.kubernetes.io/out-of-service',
    });
    bindings.set('n0', [bindingOf('b', 3)]);
    held.delete('default/b');
    nodes.onEvents([released]);
    await until(() => unbound.length === 2);
    expect(unbound[1]).to.include({ pod: 'b', cause: 'UNBIND_CAUSE_NODE_OUT_OF_SERVICE' });
  });

  for (const [clock, skewMs] of [
    ['ahead of', hour],
    ['behind', -hour],
  ] as const)
    it(`the bindings of a tainted Node end although the clock that made the taint is ${clock} the ledger`, async () => {
      const { source, unbound, nodes } = world(0, { n0: [bindingOf('a', 2)] });
      source.put(outOfService('n0', new Date(Date.parse(boundAt) + skewMs).toISOString()));
      await nodes.start();
      await until(() => unbound.length === 1);
    });

  it('the bindings of a tainted Node stay if they are newer than the taint, because the Node is alive', async () => {
    const { log, lines } = recordingLogger();
    const { source, bindings, unbound, listed, nodes } = world(1, { n0: [bindingOf('a', 2)] }, { log });
    await nodes.start();
    source.put(outOfService('n0', new Date(Date.now() + hour).toISOString()));
    await until(() => unbound.length === 1);
    bindings.set('n0', [bindingOf('b', 3, '2026-01-31T08:00:00.001Z')]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ node: 'n0', ended: 1, remaining: 0 });
    const lists = listed.length;
    nodes.onEvents([released]);
    await until(() => listed.length > lists);
    await waitForIdle();
    expect(unbound.map(({ pod }) => pod)).to.deep.equal(['a']);
    expect(lines).to.have.length(2);
    expect(lines[1]).to.include({ node: 'n0', ended: 0, remaining: 0, later: 1 });
    expect(nodes.outOfService).to.deep.equal({ n0: Date.parse(boundAt) });
  });

  it('the bindings of a tainted Node that are newer than the taint stay in the next watcher, too', async () => {
    const outOfServiceBefore = { n0: Date.parse(boundAt) - 1 };
    const { source, unbound, listed, nodes } = world(1, { n0: [bindingOf('a', 2)] }, { outOfServiceBefore });
    await nodes.start();
    source.put(outOfService('n0'));
    await until(() => listed.length > 0);
    await waitForIdle();
    expect(unbound).to.deep.equal([]);
    expect(nodes.outOfService).to.deep.equal(outOfServiceBefore);
  });

  it('the bindings of a tainted Node stay in the watcher after one that stops before it has listed the Nodes', async () => {
    const outOfServiceBefore = { n0: Date.parse(boundAt) - 1 };
    const unsynced = Object.assign(new FakeInformer<NodeObject>(), { hasSynced: false });
    const { nodes } = world(0, {}, { outOfServiceBefore, nodes: unsynced });
    expect(nodes.outOfService).to.deep.equal(outOfServiceBefore);
    Object.assign(unsynced, { hasSynced: true });
    expect(nodes.outOfService, 'the Node is gone from the list').to.deep.equal({});
  });

  it('the bindings of a Node stay after the taint is removed, and with a taint of another key or effect', async () => {
    const { source, bindings, unbound, held, nodes } = world(3, { n0: [bindingOf('a', 2)], n2: [bindingOf('c', 4)] });
    held.add('default/a').add('default/c');
    await nodes.start();
    for (const name of ['n0', 'n2']) source.put(outOfService(name));
    await until(() => Object.keys(nodes.outOfService).length === 2);
    source.put(nodeNamed('n0'));
    held.clear();
    bindings.set('n1', [bindingOf('b', 3)]);
    const taints = [
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
      { key: 'node.kubernetes.io/out-of-service', effect: 'PreferNoSchedule' },
    ];
    source.put(nodeNamed('n1', undefined, { taints }));
    nodes.onEvents([released]);
    // The other Node that had the taint shows when the release has been handled
    await until(() => unbound.length > 0);
    await waitForIdle();
    expect(unbound.map(({ pod }) => pod)).to.deep.equal(['c']);
    expect(Object.keys(nodes.outOfService)).to.deep.equal(['n2']);
  });

  it('the bindings of a deleted Node stay while a Pod holds the address, and end when it is released', async () => {
    const { source, bindings, unbound, held, nodes } = world(1, { n0: [bindingOf('a', 2)] });
    held.add('default/a');
    await nodes.start();
    source.drop(nodeNamed('n0'));
    await waitForIdle();
    expect(unbound).to.deep.equal([]);
    held.delete('default/a');
    nodes.onEvents([{ kind: 'subnet-retired', subnet: 'other' }, released]);
    await until(() => unbound.length === 1);
    bindings.clear();
  });

  it('CA-3589 the bindings of a deleted Node stay if a look-up finds the Node, or it is created again', async () => {
    const { source, unbound, exist, nodes } = world(2, { n0: [bindingOf('a', 2)], n1: [bindingOf('b', 3)] });
    exist.add('n0');
    await nodes.start();
    source.drop(nodeNamed('n0'));
    source.drop(nodeNamed('n1'));
    source.put(nodeNamed('n1', 'another'));
    await waitForIdle();
    nodes.onEvents([released]);
    await waitForIdle();
    expect(unbound).to.deep.equal([]);
  });

  it('bindings stay if their node name was never that of a Node', async () => {
    const { unbound, listed, nodes } = world(1, { demo: [bindingOf('a', 2)] });
    await nodes.start();
    nodes.onEvents([released]);
    await waitForIdle();
    expect([unbound, listed]).to.deep.equal([[], []]);
  });

  it('the bindings of a Node that was deleted while no watcher ran end, as far as the API’s history reaches', async () => {
    const listDeleted = async function* () {
      yield* await Promise.resolve([nodeNamed('deleted'), nodeNamed('n0', 'an earlier one')]);
      throw new Error('410 Expired');
    };
    const bound = { deleted: [bindingOf('a', 2)], n0: [bindingOf('b', 3)] };
    const { unbound, nodes } = world(1, bound, { listDeleted });
    await nodes.start();
    await until(() => unbound.length === 1);
    await waitForIdle();
    expect(unbound.map(({ pod }) => pod)).to.deep.equal(['a']);
  });

  it('the bindings of Nodes stay while most Nodes are missing, unless the operator accepts the mass deletion', async () => {
    const bound = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`n${index}`, [bindingOf(`p${index}`, index)]]),
    );
    const { source, unbound, alarms, nodes } = world(10, bound);
    await nodes.start();
    for (let index = 0; index < 6; index++) source.drop(nodeNamed(`n${index}`));
    await until(() => alarms.length > 0);
    expect(alarms[0]).to.match(
      /^6 of 10 Nodes are missing from the Kubernetes API all at the same time \(n0, n1, n2, …\); their bindings stay/,
    );
    expect([unbound.length, nodes.missing]).to.deep.equal([0, 6]);
    for (let index = 0; index < 4; index++) source.put(nodeNamed(`n${index}`));
    nodes.onEvents([released]);
    await until(() => unbound.length === 2);
    expect([alarms.at(-1), nodes.missing]).to.deep.equal([undefined, 0]);

    const accepting = world(10, bound);
    await accepting.nodes.start();
    for (let index = 0; index < 6; index++) accepting.source.drop(nodeNamed(`n${index}`));
    await until(() => accepting.alarms.length > 0);
    accepting.nodes.acceptMassDeletion(0);
    expect(accepting.nodes.isAccepted).to.equal(false);
    accepting.nodes.acceptMassDeletion(1);
    expect(accepting.nodes.isAccepted).to.equal(true);
    accepting.nodes.acceptMassDeletion(5);
    await waitForIdle();
    expect([accepting.unbound.length, accepting.nodes.missing]).to.deep.equal([0, 6]);
    accepting.nodes.acceptMassDeletion(6);
    expect([accepting.alarms.at(-1), accepting.nodes.missing], 'at once').to.deep.equal([undefined, 0]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(accepting.lookedUp, 'without a backoff').to.not.deep.equal([]);
    await until(() => accepting.unbound.length === 6);
    expect(accepting.alarms.at(-1)).to.equal(undefined);
  });

  it('the bindings of a tainted or deleted Node that has none are read once', async () => {
    const { source, listed, nodes } = world(2, {});
    await nodes.start();
    source.put(outOfService('n0'));
    source.drop(nodeNamed('n1'));
    await until(() => listed.length === 2);
    // Longer than the first backoff.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(listed).to.have.members(['n0', 'n1']);
  });

  it('the bindings of at most four Nodes are read at a time', async () => {
    const answers: (() => void)[] = [];
    const nodeExists = () => new Promise<boolean>((resolve) => answers.push(() => resolve(true)));
    const { source, nodes } = world(16, {}, { nodeExists });
    await nodes.start();
    for (let index = 0; index < 7; index++) source.drop(nodeNamed(`n${index}`));
    await until(() => answers.length >= 4);
    await waitForIdle();
    expect(answers).to.have.length(4);
    for (const answer of answers.splice(0)) answer();
    await until(() => answers.length === 3);
  });

  it('the bindings of Nodes that are deleted in more than a minute end, because that is no mass deletion', async () => {
    const bound = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`n${index}`, [bindingOf(`p${index}`, index)]]),
    );
    const { source, unbound, held, alarms, listed, nodes } = world(20, bound);
    for (let index = 0; index < 6; index++) held.add(`default/p${index}`);
    const now = performance.now.bind(performance);
    try {
      await nodes.start();
      for (let index = 0; index < 6; index++) source.drop(nodeNamed(`n${index}`));
      await until(() => listed.length === 6);
      performance.now = () => now() + 61_000;
      for (let index = 6; index < 12; index++) source.drop(nodeNamed(`n${index}`));
      await until(() => unbound.length === 6);
      expect(alarms).to.deep.equal([]);
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
  });
});
