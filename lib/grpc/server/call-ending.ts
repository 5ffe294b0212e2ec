/** Whether a call has ended for its caller: it disconnected, its deadline passed, or it has its reply. */
import type { EventEmitter } from 'node:events';
import { IpledgerError } from '../../errors.ts';

/** What an AbortSignal shows without its events. */
export type Abortable = Pick<AbortSignal, 'aborted'>;

/** The end of a call: whether it has happened, and the signal of it. */
export interface Ending extends Abortable {
  readonly signal: AbortSignal;
}

// Every call ends, so one shared error avoids a stack trace for each.
const callerDisconnected = new IpledgerError('CANCELLED', 'the caller has disconnected');

/** What a call of grpc-js shows of its end. */
export type CancellableCall = Pick<EventEmitter, 'once'> & { readonly cancelled: boolean };

/** The end of one call, with a signal for handlers that wait for it. Most handlers only test whether the caller is still there. */
export class CallEnding implements Ending {
  readonly #call: CancellableCall;
  #controller: AbortController | undefined;

  constructor(call: CancellableCall) {
    this.#call = call;
  }

  get aborted(): boolean {
    return this.#call.cancelled;
  }

  /** Aborted with CANCELLED when the call ends. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      const end = (): void => controller.abort(callerDisconnected);
      if (this.#call.cancelled) end();
      else this.#call.once('cancelled', end);
      this.#controller = controller;
    }
    return this.#controller.signal;
  }
}

/** The ending that a signal shows. */
export const callEndingOf = (signal: AbortSignal): Ending => ({
  signal,
  get aborted() {
    return signal.aborted;
  },
});
