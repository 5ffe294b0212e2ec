import { expect } from 'chai';
import { decode, encode } from './codec.ts';
import { readRequestFrames, ResultsWriter } from './request-frames.ts';

const requestOf = (name: string) => ({ pod: { namespace: 'default', name, uid: `uid-${name}` } });
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

describe('Request frames', () => {
  it('are read from a message, with the bytes of each request', () => {
    const requests = [
      { id: 2 ** 53 - 1, request: requestOf('a'), traceparent },
      { id: 7, request: requestOf('b') },
      { id: 0 },
    ];
    const frames = readRequestFrames(encode('AllocateStreamRequest', { requests }), 512);
    expect(frames).to.deep.equal([
      { id: 2 ** 53 - 1, request: encode('AllocateRequest', requestOf('a')), traceparent },
      { id: 7, request: encode('AllocateRequest', requestOf('b')), traceparent: '' },
      { id: 0, request: Buffer.alloc(0), traceparent: '' },
    ]);
  });

  it('skip fields of later versions, and keep those of a request', () => {
    const later = Buffer.from('ba3e056c61746572', 'hex'); // field 999: "later"
    const request = Buffer.concat([encode('AllocateRequest', requestOf('a')), later]);
    const frame = Buffer.concat([Buffer.from([0x08, 5, 0x12, request.length]), request, later]);
    const message = Buffer.concat([later, Buffer.from([0x0a, frame.length]), frame]);
    expect(readRequestFrames(message, 512)).to.deep.equal([{ id: 5, request, traceparent: '' }]);
  });

  it('are read up to a maximum', () => {
    const requests = Array.from({ length: 10 }, (_, id) => ({ id }));
    expect(readRequestFrames(encode('AllocateStreamRequest', { requests }), 3)).to.have.length(3);
  });

  it('are rejected when they are cut off, and with an id that is not exact', () => {
    const whole = encode('AllocateStreamRequest', { requests: [{ id: 5, request: requestOf('a'), traceparent }] });
    for (let length = 1; length < whole.length; length++)
      expect(() => readRequestFrames(whole.subarray(0, length), 512), `${length} bytes`).to.throw(Error);
    const beyond = Buffer.from('0a0a08808080808080801001', 'hex'); // 2^53, and one byte more
    expect(() => readRequestFrames(beyond, 512)).to.throw(RangeError);
  });
});

describe('Results', () => {
  it('are collected into one message', () => {
    const reply = { position: { epoch: 1, seq: 5, hash: 'h' } };
    const error = { status: 6, code: 'ADDRESS_IN_USE', message: '10.0.0.2 is in use' };
    const writer = new ResultsWriter();
    writer.add(2 ** 53 - 1, { reply: encode('AllocateReply', reply) });
    writer.add(0, { error });
    const [length, message] = [writer.length, writer.finish()];
    expect(message.length).to.be.within(length, length + 2 * 25);
    expect(decode('AllocateStreamReply', message)).to.deep.equal({
      results: [
        { id: 2 ** 53 - 1, reply: { ...reply, allocations: [] } },
        { id: 0, error },
      ],
    });
  });
});
