/**
 * Addresses in the order in which they were left, as a doubly linked list: append, remove from anywhere and look at the
 * first, all in flat time, and all undone exactly. (A Map would keep the order too, but finding its first entry costs what
 * was deleted before it.)
 */
import type { Undo } from './journal.ts';

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

  /** Adds an address before those at the end that are later. Takes time with their number. */
  insert(value: bigint, isLater: (other: bigint) => boolean): Undo {
    let next: Node | undefined;
    for (let previous = this.#last; previous && isLater(previous.value); previous = previous.previous) next = previous;
    const node: Node = { value, previous: next ? next.previous : this.#last, next };
    this.#link(node);
    return () => this.#unlink(node);
  }

  /** Takes an address out; undefined when it is not there. */
  remove(value: bigint): Undo | undefined {
    const node = this.#nodes.get(value);
    if (!node) return undefined;
    this.#unlink(node);
    // The neighbours are the node's own again when all later changes have been undone.
    return () => this.#link(node);
  }

  /** From the one left longest ago. */
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
