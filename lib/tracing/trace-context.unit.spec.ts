import { expect } from 'chai';
import { formatTraceparent, isSampled, parseTraceparent, podTrace } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('The trace of a Pod', () => {
  it('The trace of a Pod has ids from SHA-256 of the uid, so that all programs and auditors compute the same', () => {
    // printf %s 8b2f6f0e-6a2c-4b1c-9d0e-2f1a3b4c5d6e | sha256sum
    expect(podTrace('8b2f6f0e-6a2c-4b1c-9d0e-2f1a3b4c5d6e')).to.deep.equal({
      traceId: '8c740588b16a8f907f1147a53d3eb131',
      spanId: '10e1d25558d211b8',
    });
  });

  it('a trace that is sampled at a ratio is sampled at every higher ratio, and the ratio is the share of sampled Pods', () => {
    const traces = Array.from({ length: 10_000 }, (_, index) => podTrace(`uid-${index}`));
    const at = (ratio: number) => new Set(traces.filter((trace) => isSampled(trace, ratio)));
    const [tenth, half] = [at(0.1), at(0.5)];
    expect(at(0).size).to.equal(0);
    expect(at(1).size).to.equal(traces.length);
    expect(tenth.size).to.be.within(900, 1_100);
    expect(half.size).to.be.within(4_800, 5_200);
    expect([...tenth].every((trace) => half.has(trace))).to.be.true;
  });
});

describe('traceparent', () => {
  it('traceparent is the same after formatting and parsing', () => {
    const header = formatTraceparent({ traceId, spanId });
    expect(header).to.equal(`00-${traceId}-${spanId}-01`);
    expect(parseTraceparent(header)).to.deep.equal({ traceId, spanId });
  });

  it('traceparent is sampled by the last bit of its flags', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-03`)).to.deep.equal({ traceId, spanId });
    expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).to.be.undefined;
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).to.be.undefined;
  });

  for (const [title, header] of [
    ['absent', undefined],
    ['repeated', [`00-${traceId}-${spanId}-01`]],
    ['binary', Buffer.from(`00-${traceId}-${spanId}-01`)],
    ['empty', ''],
    ['of another version', `01-${traceId}-${spanId}-01`],
    ['longer', `00-${traceId}-${spanId}-01-more`],
    ['followed by a line', `00-${traceId}-${spanId}-01\n`],
    ['in upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['without a span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['not hexadecimal', `00-${traceId.replace('0', 'g')}-${spanId}-01`],
  ] as const)
    it(`traceparent is ignored when it is ${title}`, () => expect(parseTraceparent(header)).to.be.undefined);
});
