/**
 * The requests that wait for a decision. Identities take turns, so one with many requests delays another by one request for each of
 * its own. A request whose decision is undone returns to the front.
 */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { QueuedRequest } from './pending-request.ts';

export class RequestQueue {
  #returned: QueuedRequest[] = [];
  /** By identity, in the order of their turns; each in the order of arrival. */
  #waiting = new Map<string, QueuedRequest[]>();
  #length = 0;
  /** Called when a request arrives. */
  onArrival: () => void = () => undefined;

  get length(): number {
    return this.#length;
  }

  push(request: QueuedRequest): void {
    this.#add(request);
    this.onArrival();
  }

  shift(): QueuedRequest | undefined {
    const returned = this.#returned.shift();
    if (returned) {
      this.#length--;
      return returned;
    }
    const [next] = this.#waiting;
    if (!next) return undefined;
    const [actor, requests] = next;
    this.#length--;
    this.#waiting.delete(actor);
    const request = requests.shift();
    if (requests.length > 0) this.#waiting.set(actor, requests);
    return request;
  }

  /** Puts requests back, in front of all others. */
  putBack(requests: readonly QueuedRequest[]): void {
    this.#returned.unshift(...requests);
    this.#length += requests.length;
  }

  remove(requests: ReadonlySet<QueuedRequest>): void {
    this.#keep((each) => !requests.has(each));
  }

  /** Rejects the requests whose caller has left. */
  rejectExpired(error: () => IpledgerError): void {
    for (const { reject } of this.#keep(({ request }) => !request.signal.aborted)) reject(error());
  }

  rejectAll(errorFor: (request: QueuedRequest) => IpledgerError): void {
    for (const each of this.#keep(() => false)) each.reject(errorFor(each));
  }

  /** Resolves when a request arrives, or with the signal. */
  untilArrival(signal: AbortSignal): Promise<void> {
    return waitForCallback(signal, (wake) => {
      this.onArrival = wake;
      return () => (this.onArrival = () => undefined);
    });
  }

  #add(request: QueuedRequest): void {
    const { actor } = request.request;
    const requests = this.#waiting.get(actor);
    if (requests) requests.push(request);
    else this.#waiting.set(actor, [request]);
    this.#length++;
  }

  /** Removes the other requests, and returns them. */
  #keep(isKept: (request: QueuedRequest) => boolean): QueuedRequest[] {
    const [returned, waiting] = [this.#returned, [...this.#waiting.values()].flat()];
    this.#returned = returned.filter(isKept);
    this.#waiting = new Map();
    this.#length = this.#returned.length;
    for (const each of waiting) if (isKept(each)) this.#add(each);
    return [...returned, ...waiting].filter((each) => !isKept(each));
  }
}
