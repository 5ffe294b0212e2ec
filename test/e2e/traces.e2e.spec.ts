/** Tests traces of real programs at a real OTLP receiver. */
import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Metadata } from '@grpc/grpc-js';
import { call, connect } from '../../lib/grpc/client.ts';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { runDocumented } from '../docs/run-documented.ts';
import { startAllocator } from '../harness/services.ts';
import { type ReceivedSpan, startTraceCollector, type TraceCollector } from '../harness/trace-collector.ts';
import { eventually } from './support/eventually.ts';
import { callKubeOvnPlugin, resultAddresses } from './support/plugin-call.ts';
import {
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
  waitForAddress,
} from './support/test-environment.ts';

/** Hashes a uid as docs/tracing.md describes. */
const hashOf = (uid: string): string => createHash('sha256').update(uid).digest('hex');
const traceIdOf = (uid: string): string => hashOf(uid).slice(0, 32);

/** Returns the names of a span and its ancestors, the root first. */
function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string {
  const { parentSpanId, name } = span;
  if (parentSpanId === undefined) return name;
  const parent = spans.find(({ spanId }) => spanId === parentSpanId);
  return `${parent ? pathOf(parent, spans) : '(missing)'} > ${name}`;
}

describe('Traces', function () {
  this.timeout(180_000);
  let collector: TraceCollector;
  let scene: TestEnvironment;
  before(async () => {
    collector = await startTraceCollector();
    scene = await openTestEnvironment({ traceEndpoint: collector.endpoint });
    await makeNetworkAndSubnet(scene, 'lan', '10.6.0.0/24');
  });
  after(async () => {
    await scene?.run.end();
    await collector?.stop();
  });

  const spansOf = (traceId: string): ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);

  const createPod = async (name: string): Promise<string> => {
    const { metadata } = await makePod(scene, name, 'lan');
    await waitForAddress(scene, name, 'lan');
    return metadata.uid ?? '';
  };

  const readDropped = async ({ health }: { readonly health: string }): Promise<number> => {
    const text = await (await fetch(`http://${health}/metrics`)).text();
    return Number(/^ipledger_trace_spans_dropped_total (\d+)$/m.exec(text)?.[1]);
  };
  const programs = () => [scene.stack.allocator, scene.stack.watcher, scene.stack.agents[0]];

  it('Traces show a Pod from its discovery to its bound address as one trace', async () => {
    const uid = await createPod('traced');
    const runtime = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
    const env = { TRACEPARENT: `00-${runtime.traceId}-${runtime.spanId}-01` };
    expect(resultAddresses(await callKubeOvnPlugin(scene, { pod: 'traced', network: 'lan', uid, env }))).to.be.an(
      'array',
    );
    const commands = documentedCommands('docs/tracing.md', 'trace-id').replace('pod web', 'pod traced');
    const { stdout } = await runDocumented(scene.run, commands, { KUBECONFIG: scene.stack.cluster.kubeconfig });
    expect(stdout).to.equal(`${traceIdOf(uid)}\n`);
    const spans = await eventually(() => {
      const found = spansOf(traceIdOf(uid));
      const paths = found.map((span) => `${span.service.replace('ipledger-', '')}: ${pathOf(span, found)}`);
      // Includes a request that was refused because the Subnet is new.
      expect([...new Set(paths)].toSorted()).to.deep.equal(
        [
          'pod-watcher: pod',
          'pod-watcher: pod > request addresses',
          'allocator: pod > request addresses > Ipam/Allocate',
          'allocator: pod > request addresses > Ipam/Allocate > decide',
          'allocator: pod > request addresses > Ipam/Allocate > append',
          'pod-watcher: pod > annotate Pod',
          'pod-watcher: pod > write IP object',
          'node-agent: pod > CNI ADD',
          'allocator: pod > CNI ADD > Ipam/Attach',
          'allocator: pod > CNI ADD > Ipam/Attach > decide',
          'allocator: pod > CNI ADD > Ipam/Attach > append',
          'node-agent: pod > CNI ADD > prepare sandbox',
        ].toSorted(),
      );
      return found;
    });

    const spanOf = (name: string): ReceivedSpan => {
      const span = spans.findLast((each) => each.name === name);
      if (!span) throw new Error(`no span ${name}`);
      return span;
    };
    const [root, allocate, add] = [spanOf('pod'), spanOf('Ipam/Allocate'), spanOf('CNI ADD')];
    expect(root.spanId).to.equal(hashOf(uid).slice(32, 48));
    const pod = { 'k8s.namespace.name': 'default', 'k8s.pod.name': 'traced', 'k8s.pod.uid': uid };
    const shown = {
      'ipledger.subnet': 'lan',
      'ipledger.addresses': 1,
      'ipledger.seq': root.attributes['ipledger.seq'],
    };
    for (const span of [root, allocate, add]) expect(span.attributes).to.include({ ...pod, ...shown });
    for (const name of ['annotate Pod', 'write IP object']) expect(spanOf(name).attributes).to.include(shown);
    expect(add.attributes).to.include({ 'k8s.node.name': 'node-1', 'network.interface.name': 'net1' });
    expect(add.links.map(({ traceId, spanId }) => ({ traceId, spanId }))).to.deep.equal([runtime]);
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).to.be.true;
    expect(spansOf(runtime.traceId), 'the runtime does not choose the trace').to.be.empty;
  });

  it('Traces continue from a standby to the writer', async () => {
    const { run, stack } = scene;
    const standby = await startAllocator(run, {
      etcd: stack.etcd,
      name: 'allocator-2',
      traceEndpoint: collector.endpoint,
    });
    const trace = { traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') };
    const connection = connect(standby.endpoint, undefined);
    try {
      const pod = { namespace: 'default', name: 'by-standby', uid: 'uid-of-by-standby' };
      const request = { pod, attachments: [{ provider: 'lan.default', subnets: ['lan'] }] };
      await call(connection, IpamService.allocate, request, { timeoutMs: 30_000, trace });
      await eventually(() => {
        const calls = spansOf(trace.traceId).filter(({ name }) => name === 'Ipam/Allocate');
        const first = calls.find(({ parentSpanId }) => parentSpanId === trace.spanId);
        expect(calls).to.have.length(2);
        expect(calls.map(({ parentSpanId }) => parentSpanId)).to.have.members([trace.spanId, first?.spanId]);
      });
    } finally {
      connection.close();
      await standby.stop();
    }
  });

  it('Traces ignore a context that is malformed or not sampled', async () => {
    const ignored = randomBytes(16).toString('hex');
    const last = { traceId: randomBytes(16).toString('hex'), spanId: '00000000000000aa' };
    const connection = connect(scene.stack.allocator.endpoint, undefined);
    const unbind = { containerId: 'none', interface: 'net1', cause: 'UNBIND_CAUSE_CONTAINER_DELETED' } as const;
    try {
      for (const header of [
        `00-${ignored}-00000000000000aa-00`,
        `00-${ignored}-0000000000000000-01`,
        `01-${ignored}-00000000000000aa-01`,
        `00-${ignored}-00000000000000aa-01-${'x'.repeat(2_000)}`,
      ]) {
        const metadata = new Metadata();
        metadata.set('traceparent', header);
        await call(connection, IpamService.unbind, unbind, { timeoutMs: 30_000, metadata });
      }
      await call(connection, IpamService.unbind, unbind, { timeoutMs: 30_000, trace: last });
      await eventually(() => expect(spansOf(last.traceId)).not.to.be.empty);
      expect(spansOf(ignored)).to.be.empty;
    } finally {
      connection.close();
    }
  });

  for (const [fault, begin] of [
    ['is down', () => collector.stop()],
    ['does not reply', () => Promise.resolve(collector.hang())],
  ] as const)
    it(`Traces are dropped and counted while the collector ${fault}, and Pods get their addresses`, async () => {
      const before = await Promise.all(programs().map(readDropped));
      await begin();
      const name = `unseen-${fault.replaceAll(' ', '-')}`;
      const uid = await createPod(name);
      const answer = await callKubeOvnPlugin(scene, { pod: name, network: 'lan', uid });
      expect(resultAddresses(answer)).to.be.an('array');
      await eventually(async () => {
        const dropped = await Promise.all(programs().map(readDropped));
        for (const [index, count] of dropped.entries()) expect(count).to.be.greaterThan(before[index] ?? 0);
      });
      await collector.start();
      const next = await createPod(`${name}-no-more`);
      await eventually(() => expect(spansOf(traceIdOf(next)).map((span) => span.name)).to.include('pod'));
    });
});
