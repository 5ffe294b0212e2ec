/**
 * The requests that wait for a decision. Kinds of identities take turns, and so do the identities
 * of a kind. So an identity with many requests delays another identity by only one request at a
 * time, and many agents or users delay the pod-watcher no more than one of them. A request whose
 * decision was undone returns to the front.
 */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { QueuedRequest } from '../pending-request.ts';

export class RequestQueue {
  #returned: QueuedRequest[] = [];
  /** Requests by kind and identity, in the order of turns, then of arrival. */
  #waiting = new Map<string, Map<string, QueuedRequest[]>>();
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
    const ofKind = takeTurn(this.#waiting);
    const requests = ofKind && takeTurn(ofKind[1]);
    if (!requests) return undefined;
    const request = requests[1].shift();
    this.#length--;
    if (requests[1].length > 0) ofKind[1].set(...requests);
    if (ofKind[1].size > 0) this.#waiting.set(...ofKind);
    return request;
  }

  /** Puts requests back in front of all others. */
  putBack(requests: readonly QueuedRequest[]): void {
    this.#returned.unshift(...requests);
    this.#length += requests.length;
  }

  remove(requests: ReadonlySet<QueuedRequest>): void {
    this.#keep((each) => !requests.has(each));
  }

  /** Rejects the requests whose caller has left, or will leave before `until`. */
  rejectExpired(until: number, errorFor: (request: QueuedRequest) => IpledgerError): void {
    const isWaiting = ({ request: { signal, expiresAt = Infinity } }: QueuedRequest): boolean =>
      !signal.aborted && expiresAt > until;
    for (const each of this.#keep(isWaiting)) each.reject(errorFor(each));
  }

  takeQueries(): readonly QueuedRequest[] {
    return this.#keep(({ request }) => request.command !== undefined);
  }

  rejectAll(errorFor: (request: QueuedRequest) => IpledgerError): void {
    for (const each of this.#keep(() => false)) each.reject(errorFor(each));
  }

  /** Resolves when a request arrives, or when the signal is aborted. */
  untilArrival(signal: AbortSignal): Promise<void> {
    return waitForCallback(signal, (wake) => {
      this.onArrival = wake;
      return () => (this.onArrival = () => undefined);
    });
  }

  #add(request: QueuedRequest): void {
    const { actor } = request.request;
    const kind = kindOf(actor);
    const identities = this.#waiting.get(kind) ?? new Map<string, QueuedRequest[]>();
    this.#waiting.set(kind, identities);
    const requests = identities.get(actor);
    if (requests) requests.push(request);
    else identities.set(actor, [request]);
    this.#length++;
  }

  /** Removes all requests that `isKept` does not select, and returns them. */
  #keep(isKept: (request: QueuedRequest) => boolean): QueuedRequest[] {
    const [returned, waiting] = [
      this.#returned,
      [...this.#waiting.values()].flatMap((each) => [...each.values()].flat()),
    ];
    this.#returned = returned.filter(isKept);
    this.#waiting = new Map();
    this.#length = this.#returned.length;
    for (const each of waiting) if (isKept(each)) this.#add(each);
    return [...returned, ...waiting].filter((each) => !isKept(each));
  }
}

/** The kind in `ipledger://<kind>/<name>`, or in `kubernetes:<user>`. */
const kindOf = (actor: string): string => /^(?:ipledger:\/\/)?[a-z-]*/.exec(actor)?.[0] ?? '';

/** Removes the first entry, moves its key to the end, and returns it. */
function takeTurn<V>(turns: Map<string, V>): [string, V] | undefined {
  const [first] = turns;
  if (first) turns.delete(first[0]);
  return first;
}
