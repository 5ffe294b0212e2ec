/**
 * The requests that wait for a decision. Kinds of identities take turns, and so do the identities
 * of a kind. So an identity with many requests delays another identity by only one request at a
 * time, and many agents or users delay the pod-watcher no more than one of them. A request whose
 * decision was undone returns to the front.
 */
import { waitForCallback } from '../../../lib/process/abortable.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { QueuedRequest } from '../pending-request.ts';

/** A queue is shared for this long after requests of two identities. */
const sharedMs = 1_000;

export class RequestQueue {
  #returned: QueuedRequest[] = [];
  /** Requests by kind and identity, in the order of turns, then of arrival. */
  #waiting = new Map<string, Map<string, QueuedRequest[]>>();
  #length = 0;
  #lastActor: string | undefined;
  #sharedAt = -Infinity;
  /** Called when a request arrives. */
  onArrival: () => void = () => undefined;

  get length(): number {
    return this.#length;
  }

  /** Whether requests of more than one identity arrived in the last second. */
  get isShared(): boolean {
    return performance.now() - this.#sharedAt < sharedMs;
  }

  push(request: QueuedRequest): void {
    const { actor } = request.request;
    if (this.#lastActor !== undefined && actor !== this.#lastActor) this.#sharedAt = performance.now();
    this.#lastActor = actor;
    this.#add(request);
    this.onArrival();
  }

  /** Takes the next request, without those of identities that `isSkipped` selects. */
  shift(isSkipped: (actor: string) => boolean = () => false): QueuedRequest | undefined {
    const returned = this.#returned.findIndex(({ request }) => !isSkipped(request.actor));
    if (returned >= 0) {
      this.#length--;
      return this.#returned.splice(returned, 1)[0];
    }
    for (const [kind, identities] of this.#waiting)
      for (const [actor, requests] of identities) {
        if (isSkipped(actor)) continue;
        const request = requests.shift();
        this.#length--;
        moveToEnd(identities, actor, requests.length > 0);
        moveToEnd(this.#waiting, kind, identities.size > 0);
        return request;
      }
    return undefined;
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

/** Moves an entry to the end, or removes it. */
function moveToEnd<V>(turns: Map<string, V>, key: string, isKept: boolean): void {
  const value = turns.get(key) as V;
  turns.delete(key);
  if (isKept) turns.set(key, value);
}
