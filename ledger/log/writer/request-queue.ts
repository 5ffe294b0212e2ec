/** The requests that wait for a decision, in the order of their arrival. A request whose decision is undone returns to the front. */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { QueuedRequest } from './pending-request.ts';

export class RequestQueue {
  #requests: QueuedRequest[] = [];
  /** Called when a request arrives. */
  onArrival: () => void = () => undefined;

  get length(): number {
    return this.#requests.length;
  }

  push(request: QueuedRequest): void {
    this.#requests.push(request);
    this.onArrival();
  }

  shift(): QueuedRequest | undefined {
    return this.#requests.shift();
  }

  /** Puts requests back, in front of all others. */
  putBack(requests: readonly QueuedRequest[]): void {
    this.#requests.unshift(...requests);
  }

  remove(requests: ReadonlySet<QueuedRequest>): void {
    this.#requests = this.#requests.filter((each) => !requests.has(each));
  }

  /** Rejects the requests whose caller has left. */
  rejectExpired(error: () => IpledgerError): void {
    const all = this.#requests;
    this.#requests = all.filter(({ request }) => !request.signal.aborted);
    for (const { request, reject } of all) if (request.signal.aborted) reject(error());
  }

  rejectAll(errorFor: (request: QueuedRequest) => IpledgerError): void {
    for (const each of this.#requests.splice(0)) each.reject(errorFor(each));
  }

  /** Resolves when a request arrives, or with the signal. */
  untilArrival(signal: AbortSignal): Promise<void> {
    return waitForCallback(signal, (wake) => {
      this.onArrival = wake;
      return () => (this.onArrival = () => undefined);
    });
  }
}
