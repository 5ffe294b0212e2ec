/** Tests the splitter with messages in random pieces, and its limits. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from './json.ts';
import { MessageSplitter } from './message-splitter.ts';
import { OvsdbError } from './ovsdb-error.ts';

/** Pushes each piece, and returns the messages. */
function split(pieces: readonly Buffer[], maxBytes = 1_000_000): JsonObject[] {
  const splitter = new MessageSplitter(maxBytes);
  const messages: JsonObject[] = [];
  for (const piece of pieces) splitter.push(piece, (message) => messages.push(message));
  return messages;
}

const errorOf = (pieces: readonly string[], maxBytes?: number): unknown => {
  try {
    return split(
      pieces.map((piece) => Buffer.from(piece)),
      maxBytes,
    );
  } catch (error) {
    return error instanceof OvsdbError ? [error.code, error.message] : error;
  }
};

/** Texts with the bytes that matter to the splitter, and with characters of several bytes. */
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ']', 'é', '😀') });

describe('The message splitter', () => {
  it('The message splitter returns the same messages for bytes that arrive in any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ text, nested: fc.array(fc.dictionary(text, fc.array(text))) }), { maxLength: 5 }),
        fc.constantFrom('', ' ', '\n', '\r\n\t'),
        fc.array(fc.nat({ max: 1_000 })),
        (messages, space, cuts) => {
          const sent = messages.map((message) => JSON.stringify(message));
          const bytes = Buffer.from(sent.join(space) + space);
          const ends = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
            (a, b) => a - b,
          );
          const pieces = ends.slice(1).map((end, at) => bytes.subarray(ends[at], end));
          expect(split(pieces)).to.deep.equal(sent.map((text) => JSON.parse(text) as unknown));
        },
      ),
    );
  });

  it('The message splitter accepts a message of exactly the limit, and counts each message separately', () => {
    const message = '{"id":"12345"}';
    expect(errorOf([message + message, message], message.length)).to.have.lengthOf(3);
  });

  it('The message splitter rejects a message as soon as it is longer than the limit', () => {
    const long = ['PROTOCOL', 'the server sent a message of more than 20 bytes'];
    expect(errorOf(['{"text":"', 'aaaaaaaaaaaaaaaaaaaaaaaa'], 20)).to.deep.equal(long);
    expect(errorOf(['{"a":[1,2,3,4,5,6,7,8,9,0,1,2'], 20)).to.deep.equal(long);
    expect(errorOf(['{"a":[', '1,2,3,4,5,6,7', ',8,9]}'], 20)).to.deep.equal(long);
  });

  it('The message splitter rejects bytes that are not a JSON object', () => {
    expect(errorOf(['[1]'])).to.deep.equal(['PROTOCOL', 'the server sent bytes that are not a JSON object']);
    expect(errorOf(['HTTP/1.1 400'])).to.deep.equal(['PROTOCOL', 'the server sent bytes that are not a JSON object']);
    expect(errorOf(['{"a":tru}'])).to.have.property('0', 'PROTOCOL');
    expect(errorOf(['{"a":[1}]}'])).to.have.property('0', 'PROTOCOL');
  });

  it('The message splitter rejects JSON with too many levels', () => {
    expect(errorOf([`{"a":${'['.repeat(200)}`])).to.deep.equal([
      'PROTOCOL',
      'the server sent JSON of more than 100 levels',
    ]);
  });
});
