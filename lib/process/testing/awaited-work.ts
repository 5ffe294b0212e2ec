/** Test support for awaited work: a signal, and the error with which the work fails. */
import { expect } from 'chai';
import { IpledgerError } from '../../errors.ts';

export const neverAborted = (): AbortSignal => new AbortController().signal;

/** Returns the error with which `work` fails. */
export async function rejectionOf(work: Promise<unknown>): Promise<IpledgerError> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError);
  return outcome as IpledgerError;
}
