/** Slots: whole numbers from 0 on, which are used again once they are free. */
export class Slots {
  readonly #free: number[] = [];
  #end = 0;

  take(): number {
    return this.#free.pop() ?? this.#end++;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}
