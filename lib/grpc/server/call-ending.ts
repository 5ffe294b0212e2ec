/** Whether a call has ended for its caller: it disconnected, its deadline passed, or it has its reply. */
import { IpledgerError } from '../../errors.ts';

/** What an AbortSignal shows without its events. */
export type Abortable = Pick<AbortSignal, 'aborted'>;

/** The end of a call: whether it has happened, and the signal of it. */
export interface Ending extends Abortable {
  readonly signal: AbortSignal;
}

// Every call ends, so one shared error avoids a stack trace for each.
const callerDisconnected = new IpledgerError('CANCELLED', 'the caller has disconnected');

/** The end of one call, with a signal for handlers that wait for it. Most handlers only test whether the caller is still there. */
export class CallEnding implements Ending {
  #aborted = false;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Aborted with CANCELLED when the call ends. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(callerDisconnected);
    }
    return this.#controller.signal;
  }

  end(): void {
    this.#aborted = true;
    this.#controller?.abort(callerDisconnected);
  }
}

/** The ending that a signal shows. */
export const endingWith = (signal: AbortSignal): Ending => ({
  signal,
  get aborted() {
    return signal.aborted;
  },
});
