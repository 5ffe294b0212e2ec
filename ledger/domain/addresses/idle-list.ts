/**
 * Released addresses in the order of their release, as a doubly linked list. Append, remove and read of the first take
 * constant time, and each undo restores the exact order. A Map keeps the order too, but skips every deleted entry to find
 * its first one.
 */
import type { Undo } from '../state/undo-log.ts';

interface Node {
  readonly value: bigint;
  previous: Node | undefined;
  next: Node | undefined;
}

export class IdleList implements Iterable<bigint> {
  readonly #nodes = new Map<bigint, Node>();
  #first: Node | undefined;
  #last: Node | undefined;

  get size(): number {
    return this.#nodes.size;
  }

  /** Adds an address at the end. */
  append(value: bigint): Undo {
    const node: Node = { value, previous: this.#last, next: undefined };
    this.#link(node);
    return () => this.#unlink(node);
  }

  /** Adds an address before the later ones at the end. Takes time with their number. */
  insert(value: bigint, isLater: (other: bigint) => boolean): Undo {
    let next: Node | undefined;
    for (let previous = this.#last; previous && isLater(previous.value); previous = previous.previous) next = previous;
    const node: Node = { value, previous: next ? next.previous : this.#last, next };
    this.#link(node);
    return () => this.#unlink(node);
  }

  /** Removes an address; undefined if it is not in the list. */
  remove(value: bigint): Undo | undefined {
    const node = this.#nodes.get(value);
    if (!node) return undefined;
    this.#unlink(node);
    // Later changes are undone first, so the neighbours are the same as now.
    return () => this.#link(node);
  }

  /** From the first released to the last. */
  *[Symbol.iterator](): IterableIterator<bigint> {
    for (let node = this.#first; node; node = node.next) yield node.value;
  }

  #link(node: Node): void {
    if (node.previous) node.previous.next = node;
    else this.#first = node;
    if (node.next) node.next.previous = node;
    else this.#last = node;
    this.#nodes.set(node.value, node);
  }

  #unlink(node: Node): void {
    if (node.previous) node.previous.next = node.next;
    else this.#first = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#last = node.previous;
    this.#nodes.delete(node.value);
  }
}
