import { expect } from 'chai';
import { pino } from 'pino';
import type { FinishedSpan } from './span.ts';
import { SpanQueue } from './span-queue.ts';
import { podTrace } from './trace-context.ts';
import { Tracer } from './tracer.ts';

/** A queue whose collector is controlled by the test. */
function setUp() {
  const exports: { count: number; accept: () => void; reject: () => void }[] = [];
  let dropped = 0;
  const queue = new SpanQueue({
    exportSpans: ({ length: count }: readonly FinishedSpan[]) =>
      new Promise((accept, reject) => {
        exports.push({ count, accept, reject: () => reject(new Error('refused')) });
      }),
    onDropped: (count) => void (dropped += count),
    log: pino({ level: 'silent' }),
  });
  const tracer = new Tracer({ ratio: 1, record: (span) => queue.add(span) });
  const addSpans = (count: number): void => {
    for (let index = 0; index < count; index++) tracer.startRoot('pod', podTrace('uid')).end();
  };
  return { queue, exports, addSpans, dropped: () => dropped };
}

describe('SpanQueue', () => {
  it('SpanQueue exports all queued spans together, one export at a time', async () => {
    const { queue, exports, addSpans } = setUp();
    addSpans(3);
    const flushed = queue.flush();
    addSpans(2);
    void queue.flush();
    expect(exports.map(({ count }) => count)).to.deep.equal([3]);
    exports[0]?.accept();
    await flushed;
    void queue.flush();
    expect(exports.map(({ count }) => count)).to.deep.equal([3, 2]);
    exports[1]?.accept();
    await queue.close();
  });

  it('SpanQueue drops and counts spans over its limit while the collector does not reply', async () => {
    const { queue, exports, addSpans, dropped } = setUp();
    addSpans(1);
    void queue.flush();
    addSpans(2_000);
    expect(dropped()).to.equal(2_000 - 1_024);
    exports[0]?.accept();
    await queue.flush();
    const closed = queue.close();
    await Promise.resolve();
    exports[1]?.accept();
    await closed;
    expect(dropped()).to.equal(2_000 - 1_024);
  });

  it('SpanQueue drops and counts the spans that the collector rejects', async () => {
    const { queue, exports, addSpans, dropped } = setUp();
    addSpans(5);
    const flushed = queue.flush();
    exports[0]?.reject();
    await flushed;
    expect(dropped()).to.equal(5);
    await queue.close();
  });

  it('SpanQueue closes even if the collector does not reply', async () => {
    const { queue, addSpans, dropped } = setUp();
    addSpans(1);
    void queue.flush();
    addSpans(4);
    await queue.close();
    expect(dropped()).to.equal(4);
  });
});
