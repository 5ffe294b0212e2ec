import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import { droppedKey, segmentKey } from './keys.ts';
import { droppedText, logStartText, parseDropped, parseLogStart, parseSegment, segmentText } from './stored-values.ts';

/** The message of the LEDGER_DAMAGED error that `read` throws. */
const damageMessage = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    const { code, message } = IpledgerError.from(error);
    expect(code).to.equal('LEDGER_DAMAGED');
    return message;
  }
  throw new Error('read without an error');
};

describe('The value of a segment key', () => {
  const segment: Segment = { seq: 11, from: 1, to: 10, since: '', until: '', hash: 'h', manifest: 'm', archive: 'a' };

  it('The value of a segment key holds the segment', () => {
    expect(parseSegment(segmentKey(1), segmentText(segment))).to.deep.equal(segment);
  });

  it('The value of a segment key is rejected when it is not a segment, or that of another key', () => {
    const text = segmentText(segment);
    for (const other of ['', 'null', '{}', `${text} `, ...['seq', 'from', 'to'].map((field) => withText(text, field))])
      expect(
        damageMessage(() => parseSegment(segmentKey(1), other)),
        other,
      ).to.contain('is not a valid segment');
    expect(damageMessage(() => parseSegment(segmentKey(2), text))).to.contain(segmentKey(2));
  });

  /** Makes the number of a field a text. */
  const withText = (text: string, field: string): string =>
    JSON.stringify({ ...(JSON.parse(text) as object), [field]: '1' });
});

describe('The value of the key of the log start', () => {
  it('The value of the key of the log start is the first event that is not sealed; without a key, event 1', () => {
    expect(parseLogStart(undefined)).to.equal(1);
    for (const seq of [2, 3, 1_000]) expect(parseLogStart(logStartText(seq))).to.equal(seq);
  });

  it('The value of the key of the log start is rejected when no sealed event can be before it', () => {
    for (const text of ['', 'null', '{}', '{"seq":1}', '{"seq":0}', '{"seq":2.5}', '{"seq":"2"}'])
      expect(
        damageMessage(() => parseLogStart(text)),
        text,
      ).to.contain('is not a valid log start');
  });
});

describe('The value of a key of dropped claims', () => {
  const key = droppedKey('macvlan');

  it('The value of a key of dropped claims holds the last events that dropped some', () => {
    expect(parseDropped(key, droppedText([7, 5]))).to.deep.equal({ subnet: 'macvlan', seqs: [7, 5] });
  });

  it('The value of a key of dropped claims is rejected when it is not a list of events', () => {
    for (const text of ['', '{}', '{"seqs":7}', '{"seqs":["7"]}'])
      expect(
        damageMessage(() => parseDropped(key, text)),
        text,
      ).to.contain('is not a valid list of events');
  });
});
