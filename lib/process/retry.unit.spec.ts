import { expect } from 'chai';
import { type ErrorCode, IpledgerError } from '../errors.ts';
import { retryFor, retryUntil } from './retry.ts';

const never = (): AbortSignal => new AbortController().signal;

/** An attempt that fails with each of `errors` in turn, and then returns the number of attempts. */
function failWith(...errors: readonly IpledgerError[]) {
  let attempts = 0;
  const attempt = (): Promise<number> => {
    const error = errors[attempts++];
    return error ? Promise.reject(error) : Promise.resolve(attempts);
  };
  return { attempt, attempts: () => attempts };
}

const failure = (code: ErrorCode): IpledgerError => new IpledgerError(code, code);
const quick = { firstBackoffMs: 1, maxBackoffMs: 1 };
const rejectionOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe('retryUntil', () => {
  it('retryUntil repeats an attempt while it fails with a transient error', async () => {
    const { attempt } = failWith(failure('UNAVAILABLE'), failure('NOT_WRITER'));
    expect(await retryUntil(retryFor(60_000, never()), attempt, quick)).to.equal(3);
  });

  it('retryUntil throws a permanent error after one attempt', async () => {
    const { attempt, attempts } = failWith(failure('SUBNET_UNKNOWN'));
    const error = await rejectionOf(retryUntil(retryFor(60_000, never()), attempt, quick));
    expect(error).to.have.property('code', 'SUBNET_UNKNOWN');
    expect(attempts()).to.equal(1);
  });

  it('retryUntil repeats an attempt after an error that the caller declares retryable', async () => {
    const { attempt } = failWith(failure('ADDRESS_ANSWERING'));
    const isRetryable = ({ code }: IpledgerError): boolean => code === 'ADDRESS_ANSWERING';
    expect(await retryUntil(retryFor(60_000, never()), attempt, { ...quick, isRetryable })).to.equal(2);
  });

  it('retryUntil throws the last error when the next wait would end after the deadline', async () => {
    const { attempt, attempts } = failWith(failure('UNAVAILABLE'));
    const deadline = retryFor(10, never());
    const error = await rejectionOf(retryUntil(deadline, attempt, { firstBackoffMs: 60_000, maxBackoffMs: 60_000 }));
    expect(error).to.have.property('code', 'UNAVAILABLE');
    expect(attempts()).to.equal(1);
  });

  it('retryUntil ends its wait and throws the last error when the signal is aborted', async () => {
    const { attempt, attempts } = failWith(failure('UNAVAILABLE'));
    const stop = new AbortController();
    const retried = retryUntil({ until: Infinity, signal: stop.signal }, attempt, {
      firstBackoffMs: 3_600_000,
      maxBackoffMs: 3_600_000,
      onRetry: () => setImmediate(() => stop.abort()),
    });
    expect(await rejectionOf(retried)).to.have.property('code', 'UNAVAILABLE');
    expect(attempts()).to.equal(1);
  });

  it('retryUntil passes the remaining time to each attempt, rounded up, at least 1 ms', async () => {
    const { signal } = new AbortController();
    const remainingMs = (until: number): Promise<number> => retryUntil({ until, signal }, (ms) => Promise.resolve(ms));
    expect(await remainingMs(performance.now() - 1_000)).to.equal(1);
    expect(await remainingMs(performance.now() + 60_000.5)).to.satisfy(Number.isInteger);
  });

  it('retryUntil reports each error that it retries', async () => {
    const { attempt } = failWith(failure('UNAVAILABLE'), failure('NOT_WRITER'));
    const reported: string[] = [];
    const onRetry = ({ code }: IpledgerError): void => void reported.push(code);
    await retryUntil(retryFor(60_000, never()), attempt, { ...quick, onRetry });
    expect(reported).to.deep.equal(['UNAVAILABLE', 'NOT_WRITER']);
  });
});
