import { expect } from 'chai';
import { GRPCInvalidArgumentError, type ITxnResponse } from 'etcd3';
import { emptyHead, type Head } from '../chain/chain.ts';
import {
  appendConflict,
  appendTransaction,
  compareEpoch,
  etcdErrorMessage,
  etcdLimits,
  outcomeOfError,
  segmentKeyExists,
} from './etcd-transaction.ts';
import { addressKey, freezeKey, headKey, logKey, logStartKey, segmentKey, writerKey } from './keys.ts';
import { type Batch, noChanges } from './ledger.ts';
import { headText, logStartText } from './stored-values.ts';

describe('etcdErrorMessage', () => {
  it('etcdErrorMessage names the effect and the remedy when etcd has reached its quota', () => {
    const full = new Error('8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded');
    expect(etcdErrorMessage(full)).to.equal(
      'etcdserver: mvcc: database space exceeded. etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm',
    );
  });

  it('etcdErrorMessage leaves out the number and name of the gRPC status', () => {
    expect(etcdErrorMessage(new Error('14 UNAVAILABLE: etcdserver: no leader'))).to.equal('etcdserver: no leader');
  });

  it('etcdErrorMessage reports a missing connection, with the last error if there is one', () => {
    const unconnected = (reason: string) =>
      etcdErrorMessage(
        new Error(`14 UNAVAILABLE: No connection established. Last error: ${reason}. Resolution note: `),
      );
    expect(unconnected('null')).to.equal('no connection');
    expect(unconnected('Error: connect ECONNREFUSED 10.0.0.1:2379')).to.equal(
      'no connection: connect ECONNREFUSED 10.0.0.1:2379',
    );
  });
});

const head: Head = { ledger: '01KG', epoch: 2, seq: 42, hash: 'abc', at: Date.parse('2026-01-31T08:00:00.000Z') };
const after: Head = { ...head, seq: 43, hash: 'def' };
const batch: Batch = { ...noChanges, head: { before: head, after }, requiresUnfrozen: false, writer: undefined };
const claimsOf = (count: number): Batch['claims'] =>
  Array.from({ length: count }, (_, index) => {
    return { name: { subnet: 'lan', address: `10.0.0.${index}` }, text: '{}', knownRevision: BigInt(index) };
  });
const segment = { seq: 43, from: 1, to: 10, since: '', until: '', hash: 'h', manifest: 'm', archive: 'a' };

describe('appendTransaction', () => {
  it('appendTransaction compares the head, the next events, and what the batch depends on', () => {
    const keysOf = (more: Partial<Batch>): string[] =>
      appendTransaction({ ...batch, ...more }).compares.map(({ key }) => key);
    expect(keysOf({})).to.deep.equal([headKey, logKey(43)]);
    expect(keysOf({ writer: 0n, requiresUnfrozen: true, segments: [segment], claims: claimsOf(1) })).to.deep.equal([
      headKey,
      logKey(43),
      writerKey,
      freezeKey,
      segmentKey(1),
      addressKey({ subnet: 'lan', address: '10.0.0.0' }),
    ]);
    const equalsOf = (before: Head) => appendTransaction({ ...batch, head: { before, after } }).compares[0]?.equals;
    expect(equalsOf(head)).to.deep.equal({ value: headText(head) });
    expect(equalsOf(emptyHead), 'no head').to.deep.equal({ create: 0n });
  });

  it('appendTransaction reads no more keys after a failed compare than etcd allows operations', () => {
    for (const [claims, reads] of [
      [124, 128],
      [128, 128],
      [3, 7],
    ] as const)
      expect(appendTransaction({ ...batch, claims: claimsOf(claims) }).reads).to.have.length(reads);
    expect(etcdLimits).to.deep.equal({ ops: 128, bytes: 1_048_576 });
    const next = appendTransaction(batch).reads[3];
    expect(next).to.deep.include({ key: logKey(43), limit: 1 });
  });

  it('appendTransaction moves the log start behind the last segment that it seals', () => {
    const second = { ...segment, from: 11, to: 20 };
    const { puts } = appendTransaction({ ...batch, segments: [segment, second] });
    expect(puts.filter(({ key }) => key === logStartKey)).to.deep.equal([
      { key: logStartKey, value: logStartText(21) },
    ]);
  });
});

describe('appendConflict', () => {
  interface Found {
    readonly head?: string | undefined;
    readonly writer?: string;
    readonly isFrozen?: boolean;
    readonly event?: boolean;
    readonly claims?: readonly (string | undefined)[];
  }

  /** The conflict of a batch with what its reads found. Default: what the batch expects. */
  const conflict = (
    more: Partial<Batch>,
    { head: text = headText(head), writer, isFrozen, event, claims = [] }: Found = {},
  ): unknown => {
    const one = (kv: object | false | undefined) => ({ response_range: { kvs: kv ? [kv] : [] } });
    const responses = [
      one(text !== '' && { value: Buffer.from(text) }),
      one(writer !== undefined && { create_revision: writer }),
      one(isFrozen && {}),
      one(event && {}),
      ...claims.map((revision) => one(revision !== undefined && { mod_revision: revision })),
    ];
    return appendConflict({ ...batch, ...more }, { responses } as unknown as ITxnResponse);
  };

  it('appendConflict shows that the head has moved, even if other keys have changed, too', () => {
    const more = { writer: 7n, requiresUnfrozen: true, claims: claimsOf(1) };
    for (const found of [{ head: headText(after) }, { head: '' }, { event: true }])
      expect(conflict(more, { ...found, writer: '8', isFrozen: true, claims: ['9'] })).to.deep.equal({ kind: 'moved' });
    const first = { ...batch, head: { before: emptyHead, after } };
    expect(conflict(first, { head: headText(head) }), 'a head before the first event').to.deep.equal({ kind: 'moved' });
    expect(conflict({ ...first, requiresUnfrozen: true }, { head: '', isFrozen: true })).to.deep.equal({
      kind: 'frozen',
    });
  });

  it('appendConflict shows another writer before a freeze, and a freeze before changed claims', () => {
    const more = { writer: 7n, requiresUnfrozen: true, claims: claimsOf(1) };
    const rest = { isFrozen: true, claims: ['9'] };
    for (const found of [{ writer: '8' }, {}])
      expect(conflict(more, { ...rest, ...found })).to.deep.equal({ kind: 'deposed' });
    expect(conflict(more, { ...rest, writer: '7' })).to.deep.equal({ kind: 'frozen' });
    expect(conflict({ ...more, writer: 0n }, rest), 'without a writer').to.deep.equal({ kind: 'frozen' });
    expect(conflict({ ...more, writer: undefined, requiresUnfrozen: false }, rest)).to.have.property('kind', 'fenced');
  });

  it('appendConflict names the claims whose keys another program has changed', () => {
    const claims = claimsOf(3);
    const name = claims.map((claim) => claim.name);
    expect(conflict({ claims }, { claims: [undefined, '5', '2'] })).to.deep.equal({
      kind: 'fenced',
      claims: [name[1]],
    });
    expect(conflict({ claims }, { claims: ['4', undefined, undefined] })).to.deep.equal({
      kind: 'fenced',
      claims: name,
    });
  });

  it('appendConflict reports the key of a segment that exists, if no claim has changed', () => {
    const more = { claims: claimsOf(1), segments: [segment] };
    expect(conflict(more, { claims: [undefined] })).to.deep.equal({ kind: 'rejected', reason: segmentKeyExists });
    expect(conflict(more, { claims: ['5'] })).to.have.property('kind', 'fenced');
    expect(conflict({ claims: claimsOf(1) }, { claims: [undefined] }), 'no segment').to.deep.equal({
      kind: 'fenced',
      claims: [],
    });
  });
});

describe('compareEpoch', () => {
  it('compareEpoch passes for each head of the epoch, and for no head before the first event', () => {
    const passes = (text: string): boolean =>
      compareEpoch(head).every(({ result, value }) =>
        result === 'Greater' ? text > String(value) : text < String(value),
      );
    expect(compareEpoch(head).map(({ result }) => result)).to.deep.equal(['Greater', 'Less']);
    expect(
      [head, after, { ...head, epoch: 1 }, { ...head, epoch: 3 }].map((each) => passes(headText(each))),
    ).to.deep.equal([true, true, false, false]);
    expect(compareEpoch(emptyHead)).to.have.length(1);
    expect(compareEpoch(emptyHead)[0]).to.include({ target: 'Create', create_revision: '0' });
  });
});

describe('outcomeOfError', () => {
  it('outcomeOfError is a rejection only if etcd cannot have executed the transaction', () => {
    const kindOf = (error: Error): string => outcomeOfError(error).kind;
    expect(kindOf(new GRPCInvalidArgumentError('too many operations'))).to.equal('rejected');
    expect(kindOf(new Error('8 RESOURCE_EXHAUSTED: grpc: received message larger than max'))).to.equal('rejected');
    expect(kindOf(new Error('14 UNAVAILABLE: etcdserver: no leader'))).to.equal('unknown');
  });

  it('outcomeOfError has the remedy if an alarm of etcd refuses the write', () => {
    const full = outcomeOfError(new Error('8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded'));
    expect(full)
      .to.have.property('refusal')
      .that.matches(/^etcd is full/);
    expect(outcomeOfError(new Error('14 UNAVAILABLE: no leader'))).to.not.have.property('refusal');
  });
});
