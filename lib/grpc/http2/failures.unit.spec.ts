import { expect } from 'chai';
import { errorCodeMetadata, IpledgerError } from '../../errors.ts';
import { callOutcome } from '../calls.ts';
import { failureOf, type StreamEnd } from './failures.ts';

const response = { ':status': 200 };
const ended: StreamEnd = {
  response: undefined,
  trailers: undefined,
  resetCode: 0,
  isConnectionLost: false,
  error: undefined,
};

/** Describes the error code, the outcome and the message of a call that ended in this way. */
function describeEnd(end: Partial<StreamEnd>): string {
  const failure = failureOf({ ...ended, ...end });
  if (!failure) return 'OK';
  const error = IpledgerError.from(failure);
  return `${error.code}, ${callOutcome(error)}: ${error.message}`;
}

describe('failureOf', () => {
  it('failureOf returns undefined when the status is OK', () => {
    expect(describeEnd({ response, trailers: { 'grpc-status': '0' } })).to.equal('OK');
  });

  it('failureOf returns the code and the decoded message that the server sent', () => {
    const trailers = {
      'grpc-status': '5',
      'grpc-message': 'no lan %E2%80%93 or 5%',
      [errorCodeMetadata]: 'SUBNET_UNKNOWN',
    };
    expect(describeEnd({ response, trailers })).to.equal('SUBNET_UNKNOWN, refused: no lan %E2%80%93 or 5%');
    const encoded = { ...trailers, 'grpc-message': 'no lan %E2%80%93' };
    expect(describeEnd({ response: { ...response, ...encoded } })).to.equal('SUBNET_UNKNOWN, refused: no lan –');
  });

  it('failureOf returns OVERLOADED when the server ended the connection of a client that sends too much', () => {
    const error = new Error('Session closed with error code 11');
    expect(describeEnd({ resetCode: 11, isConnectionLost: true, error })).to.equal(
      'OVERLOADED, unknown: Session closed with error code 11',
    );
  });

  it('failureOf maps the status of HTTP when a proxy replies', () => {
    expect(describeEnd({ response: { ':status': 503 } })).to.equal(
      'UNAVAILABLE, unknown: Received HTTP status code 503',
    );
  });

  it('failureOf reports the call as unsent when the server refused the stream', () => {
    expect(describeEnd({ resetCode: 7 })).to.match(/^UNAVAILABLE, unsent: /);
  });

  it('failureOf reports an unknown outcome when the connection was lost or the stream was reset', () => {
    expect(describeEnd({ isConnectionLost: true, resetCode: 8 })).to.equal('UNAVAILABLE, unknown: Connection dropped');
    expect(describeEnd({ response, resetCode: 8 })).to.equal('CANCELLED, unknown: the call was reset, code 8');
    expect(describeEnd({ response })).to.equal('BUG, unknown: the call was reset, code 0');
    const error = new Error('no reply to a ping');
    expect(describeEnd({ isConnectionLost: true, error })).to.equal('UNAVAILABLE, unknown: no reply to a ping');
  });
});
