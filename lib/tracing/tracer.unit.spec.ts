import { expect } from 'chai';
import type { FinishedSpan } from './span.ts';
import { podTrace } from './trace-context.ts';
import { Tracer } from './tracer.ts';

function setUp(ratio = 1) {
  const spans: FinishedSpan[] = [];
  const tracer = new Tracer({ ratio, record: (span) => void spans.push(span) });
  return { tracer, spans };
}

describe('Tracer', () => {
  it('Tracer records spans with their parents when they end', () => {
    const { tracer, spans } = setUp();
    const pod = podTrace('uid');
    const root = tracer.startRoot('pod', pod);
    const child = root.child('request');
    const remote = tracer.start('Allocate', child.context, { kind: 'server' });
    expect(spans).to.be.empty;
    remote?.end('SUBNET_FULL');
    child.end();
    root.end();
    root.end();
    expect(
      spans.map(({ name, parentSpanId, isParentRemote, error }) => [name, parentSpanId, isParentRemote, error]),
    ).to.deep.equal([
      ['Allocate', child.context.spanId, true, 'SUBNET_FULL'],
      ['request', pod.spanId, false, undefined],
      ['pod', undefined, false, undefined],
    ]);
    expect(new Set(spans.map(({ context }) => context.traceId))).to.deep.equal(new Set([pod.traceId]));
  });

  it('Tracer ignores the context of a caller whose trace its own ratio does not sample', () => {
    const { tracer } = setUp(0.01);
    const callers = Array.from({ length: 10_000 }, (_, index) => podTrace(`uid-${index}`));
    const sampled = callers.filter((caller) => tracer.start('Allocate', caller) !== undefined);
    expect(sampled.length).to.be.within(50, 200);
    expect(tracer.podTrace('')).to.be.undefined;
  });

  it('Tracer limits number and length of attributes, and drops undefined values', () => {
    const { tracer, spans } = setUp();
    const span = tracer.startRoot('pod', podTrace('uid'), { attributes: { long: 'x'.repeat(5_000), none: undefined } });
    for (let index = 0; index < 100; index++) span.set({ [`key-${index}`]: index });
    span.end('y'.repeat(5_000));
    const [recorded] = spans;
    expect(recorded?.attributes['long']).to.equal('x'.repeat(256));
    expect(recorded?.attributes).not.to.have.property('none');
    expect(Object.keys(recorded?.attributes ?? {})).to.have.length(32);
    expect(recorded?.error).to.have.length(256);
  });

  it('a span never ends before its start, even if the start is given', () => {
    const { tracer, spans } = setUp();
    tracer.startRoot('pod', podTrace('uid'), { startMs: Date.now() + 60_000 }).end();
    const [span] = spans;
    expect(span?.endMs).to.equal(span?.startMs);
  });
});
