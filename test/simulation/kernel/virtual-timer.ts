/** A timer or an immediate of a program, as Node returns them. */
type Start = (run: () => void, ms?: number) => () => void;

export class VirtualTimer {
  readonly #start: Start;
  readonly #act: () => void;
  #repeatMs: number | undefined;
  #stop: () => void;

  /** Starts. @param start has the kernel call a function later */
  constructor(start: Start, act: () => void) {
    this.#start = start;
    this.#act = act;
    this.#stop = start(() => this.#fire());
  }

  repeat(ms: number): this {
    this.#repeatMs = ms;
    return this;
  }

  cancel(): void {
    this.#repeatMs = undefined;
    this.#stop();
  }

  refresh(): this {
    this.#stop();
    this.#stop = this.#start(() => this.#fire(), this.#repeatMs);
    return this;
  }

  /** The kernel has no event loop that a timer could keep alive. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  #fire(): void {
    if (this.#repeatMs !== undefined) this.#stop = this.#start(() => this.#fire(), this.#repeatMs);
    this.#act();
  }
}
