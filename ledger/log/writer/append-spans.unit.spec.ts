import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Span } from '../../../lib/tracing/span.ts';
import { never, requestFor, startUnreliableWriter, type RunningWriter } from '../testing/running-writer.ts';
import type { UnreliableLedger } from '../testing/unreliable-ledger.ts';

interface RecordedSpan {
  readonly name: string;
  readonly options: unknown;
  readonly attributes: object;
  readonly errors: unknown[];
}

describe('The spans of a traced request', () => {
  let working: RunningWriter;
  let ledger: UnreliableLedger;
  let spans: RecordedSpan[];
  beforeEach(async () => {
    ({ working, ledger } = await startUnreliableWriter());
    spans = [];
  });
  afterEach(async () => void (await working.stop()));

  /** The span of a call, which records its children. */
  const span = (): Span => {
    const child = (name: string, options: unknown): unknown => {
      const recorded: RecordedSpan = { name, options, attributes: {}, errors: [] };
      spans.push(recorded);
      return {
        set: (attributes: object) => Object.assign(recorded.attributes, attributes),
        end: (error: unknown) => recorded.errors.push(error),
      };
    };
    return { child } as unknown as Span;
  };
  const namesOf = (): string[] => spans.map(({ name }) => name);

  it('The spans of a traced request are its decision and its append, with the size of the batch and the head', async () => {
    const { head } = await working.writer.submit({ ...requestFor(allocate('a')), span: span() });
    expect(namesOf()).to.deep.equal(['decide', 'append']);
    expect(spans[0]?.errors).to.deep.equal([undefined]);
    expect(spans[1]).to.deep.equal({
      name: 'append',
      options: { kind: 'client' },
      attributes: { 'db.system': 'etcd', 'ipledger.batch_events': 1, 'ipledger.head_seq': head.seq },
      errors: [undefined],
    });
  });

  it('The spans of a traced request without events have no append', async () => {
    await working.writer.submit({ answer: () => 0, actor: '', signal: never, span: span() });
    expect(namesOf()).to.deep.equal(['decide']);
  });

  it('The spans of a traced request have one append for each attempt, with the outcome of those that failed', async () => {
    ledger.faults.push(ledger.lostRequest);
    await working.writer.submit({ ...requestFor(allocate('a')), span: span() });
    const appends = spans.filter(({ name }) => name === 'append');
    expect(appends.map(({ errors }) => errors)).to.deep.equal([['unknown'], [undefined]]);
  });
});
