import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { errorCodeMetadata, type ErrorCode, IpledgerError, isErrorCode } from './errors.ts';

/** An error as grpc-js creates it; `sent` is the error code from the server's metadata. */
function serviceError(code: status, details: string, sent?: string): Error {
  const metadata = new Metadata();
  if (sent !== undefined) metadata.set(errorCodeMetadata, sent);
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details, metadata });
}

describe('IpledgerError', () => {
  it('IpledgerError has a kind, a gRPC status and an HTTP status', () => {
    const full = new IpledgerError('SUBNET_FULL', 'subnet macvlan is full');
    expect(full).to.include({ kind: 'exhausted', grpcStatus: status.RESOURCE_EXHAUSTED, httpStatus: 500 });
    const malformed = new IpledgerError('INVALID_REQUEST', 'no pod name');
    expect(malformed).to.include({ kind: 'invalid', grpcStatus: status.INVALID_ARGUMENT, httpStatus: 400 });
  });

  it('IpledgerError has a known code', () => {
    expect(isErrorCode('SUBNET_FULL')).to.equal(true);
    expect(isErrorCode('subnet_full')).to.equal(false);
    expect(isErrorCode('toString')).to.equal(false);
  });
});

describe('IpledgerError.from', () => {
  it('IpledgerError.from returns an IpledgerError unchanged', () => {
    const error = new IpledgerError('ADDRESS_IN_USE', 'held by default/other');
    expect(IpledgerError.from(error)).to.equal(error);
  });

  it('IpledgerError.from keeps the code and the message of the server', () => {
    const sent = serviceError(status.ALREADY_EXISTS, '172.17.0.100 is held by default/other', 'ADDRESS_IN_USE');
    const error = IpledgerError.from(sent);
    expect(error).to.include({
      code: 'ADDRESS_IN_USE',
      kind: 'conflict',
      message: '172.17.0.100 is held by default/other',
    });
    expect(error.cause).to.equal(sent);
  });

  const byStatus: [status, ErrorCode][] = [
    [status.UNAVAILABLE, 'UNAVAILABLE'],
    [status.DEADLINE_EXCEEDED, 'DEADLINE_PASSED'],
    [status.CANCELLED, 'CANCELLED'],
    [status.UNIMPLEMENTED, 'NOT_IMPLEMENTED'],
    [status.INVALID_ARGUMENT, 'INVALID_REQUEST'],
    [status.RESOURCE_EXHAUSTED, 'OVERLOADED'],
    [status.PERMISSION_DENIED, 'PERMISSION_DENIED'],
    [status.UNAUTHENTICATED, 'UNAUTHENTICATED'],
    [status.INTERNAL, 'BUG'],
  ];
  for (const [code, expected] of byStatus)
    it(`IpledgerError.from converts the status ${status[code]} without an error code to ${expected}`, () => {
      expect(IpledgerError.from(serviceError(code, 'from grpc-js')).code).to.equal(expected);
    });

  it('IpledgerError.from uses the status when the code is unknown, such as a code of a newer server', () => {
    expect(IpledgerError.from(serviceError(status.UNAVAILABLE, 'later', 'OUT_TO_LUNCH')).code).to.equal('UNAVAILABLE');
  });

  it('IpledgerError.from distinguishes a cancellation from a timeout', () => {
    expect(IpledgerError.from(AbortSignal.abort().reason).code).to.equal('CANCELLED');
    expect(IpledgerError.from(new DOMException('too late', 'TimeoutError')).code).to.equal('DEADLINE_PASSED');
  });

  it('IpledgerError.from converts other errors to BUG, with the error as cause', () => {
    const thrown = new TypeError('x is not a function');
    expect(IpledgerError.from(thrown)).to.include({
      code: 'BUG',
      kind: 'bug',
      message: 'x is not a function',
      cause: thrown,
    });
    expect(IpledgerError.from('just text')).to.include({ code: 'BUG', message: 'just text' });
    expect(IpledgerError.from(undefined)).to.include({ code: 'BUG', message: 'undefined' });
  });
});
