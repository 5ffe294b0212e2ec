import { expect } from 'chai';
import type { FinishedSpan } from '../../lib/tracing/span.ts';
import { podTrace } from '../../lib/tracing/trace-context.ts';
import { Tracer } from '../../lib/tracing/tracer.ts';
import type { Pod } from './kubernetes/objects/pod.ts';
import { PodTraces } from './pod-traces.ts';
import { FakeInformer, heldAllocation, launcher, podNamed } from './testing/fakes.ts';

function setUp(ratio = 1) {
  const pods = new FakeInformer<Pod>();
  const spans: FinishedSpan[] = [];
  const traces = new PodTraces(new Tracer({ ratio, record: (span) => void spans.push(span) }), pods);
  return { pods, spans, traces };
}

describe('PodTraces', () => {
  it('PodTraces continue the trace of a Pod from its request to the writes that show its addresses', () => {
    const { pods, spans, traces } = setUp();
    const pod = podNamed('web');
    const held = [heldAllocation('web')];
    pods.put(pod);
    traces.startRequest(pod)?.end('SUBNET_FULL');
    traces.startRequest(pod)?.end();
    traces.startWrite(pod, 'annotate Pod', held)?.end();
    traces.onAnnotated(pod, held);
    traces.startWrite(pod, 'write IP object', held)?.end();
    const { traceId, spanId } = podTrace(pod.uid);
    expect(spans.map(({ name, error }) => [name, error])).to.deep.equal([
      ['request addresses', 'SUBNET_FULL'],
      ['request addresses', undefined],
      ['annotate Pod', undefined],
      ['pod', undefined],
      ['write IP object', undefined],
    ]);
    expect(new Set(spans.map(({ context }) => context.traceId))).to.deep.equal(new Set([traceId]));
    const root = spans.find(({ name }) => name === 'pod');
    expect(root?.context.spanId).to.equal(spanId);
    for (const { name, parentSpanId } of spans) expect(parentSpanId).to.equal(name === 'pod' ? undefined : spanId);
  });

  for (const [title, pod] of [
    ['runs', podNamed('web', { status: { phase: 'Running' } })],
    ['shows its addresses', podNamed('web', { annotations: { 'lan.default.kubernetes.io/allocated': 'true' } })],
    ['is being deleted', podNamed('web', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
  ] as const)
    it(`PodTraces have no trace for a Pod that ${title} when the watcher first sees it`, () => {
      const { pods, traces } = setUp();
      pods.put(pod);
      expect(traces.startRequest(pod)).to.be.undefined;
    });

  it('PodTraces have no spans for a Pod that requests no address, and none at ratio 0', () => {
    const { pods, spans, traces } = setUp();
    const pod = podNamed('web');
    pods.put(pod);
    expect(traces.startWrite(pod, 'annotate Pod', [])).to.be.undefined;
    pods.drop(pod);
    expect(spans).to.be.empty;
    const off = setUp(0);
    off.pods.put(pod);
    expect(off.traces.startRequest(pod)).to.be.undefined;
  });

  it('PodTraces end with an error when the Pod is deleted before it has addresses', () => {
    const { pods, spans, traces } = setUp();
    const pod = podNamed('web');
    pods.put(pod);
    traces.startRequest(pod)?.end('SUBNET_FULL');
    pods.drop(pod);
    expect(spans.find(({ name }) => name === 'pod')?.error).to.equal('POD_DELETED');
    expect(traces.startRequest(pod)).to.be.undefined;
  });

  it('PodTraces use the uid of the container runtime, which for a launcher is its own, not its machine’s', () => {
    const { pods, spans, traces } = setUp();
    const pod = launcher('a');
    expect(pod.ledgerUid).not.to.equal(pod.uid);
    pods.put(pod);
    traces.startRequest(pod)?.end();
    expect(spans[0]?.context.traceId).to.equal(podTrace(pod.uid).traceId);
  });

  it('PodTraces are bounded in number, and the oldest trace ends first', () => {
    const { pods, spans, traces } = setUp();
    const first = podNamed('first');
    pods.put(first);
    traces.startRequest(first)?.end();
    for (let index = 0; index < 4_096; index++) pods.put(podNamed(`later-${index}`));
    expect(spans.find(({ name }) => name === 'pod')?.error).to.equal('TOO_MANY_PODS');
    expect(traces.startRequest(first)).to.be.undefined;
    expect(traces.startRequest(podNamed('later-4095'))).not.to.be.undefined;
  });
});
