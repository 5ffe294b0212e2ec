/** The future: what happens next, by virtual time and then by the order in which it was planned. */
export interface Planned {
  at: number;
  order: number;
  isCancelled: boolean;
}

/** A binary heap. */
export class EventQueue<Event extends Planned> {
  readonly #heap: Event[] = [];

  get length(): number {
    return this.#heap.length;
  }

  push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  /** The first event that is not cancelled. */
  pop(): Event | undefined {
    for (let event = this.#popAny(); event; event = this.#popAny()) if (!event.isCancelled) return event;
    return undefined;
  }

  #popAny(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || first === last) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

const isBefore = (one: Planned, other: Planned): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
