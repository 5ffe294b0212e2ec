/** Test support for work that is awaited: a signal for it, and the error that it ends with. */
import { expect } from 'chai';
import { IpledgerError } from '../../errors.ts';

/** A signal that is never aborted. */
export const neverAborted = (): AbortSignal => new AbortController().signal;

/** Resolves to the error with which `work` fails. */
export async function rejectionOf(work: Promise<unknown>): Promise<IpledgerError> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError);
  return outcome as IpledgerError;
}
