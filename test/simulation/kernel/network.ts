/**
 * A network between programs and servers. What is sent arrives in the order of its call, after a
 * latency that follows from the seed; or its connection breaks, before or after it arrived.
 */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import { type ConnectionLost, type Medium, NetworkCall, type Server } from './network-call.ts';
import type { Clocks, Program } from './program.ts';
import type { Timeline } from './timeline.ts';

/** A latency in a calm network. */
const latency = { minMs: 0.1, rangeMs: 1.2 };

export class Network implements Medium {
  readonly world: Timeline;
  readonly random: SeededRandom;
  /** When the last connection broke. A server may see it up to ten seconds later. */
  brokeAt = -Infinity;
  readonly #cuts = new Set<readonly [Clocks, Clocks | undefined]>();
  readonly #callsOf = new Map<Program, Set<NetworkCall>>();

  constructor(world: Timeline) {
    this.world = world;
    this.random = world.random('network');
  }

  /**
   * Drops all packets between two machines, or between one and all others. Returns what ends it.
   */
  cut(one: Clocks, other?: Clocks): () => void {
    const pair = [one, other] as const;
    this.#cuts.add(pair);
    return () => void this.#cuts.delete(pair);
  }

  isCut(one: Clocks, other: Clocks): boolean {
    if (this.#cuts.size === 0 || one === other) return false;
    return [...this.#cuts].some(
      ([a, b]) => (a === one && (b ?? other) === other) || (a === other && (b ?? one) === one),
    );
  }

  /** The time that a message takes now. */
  latencyMs(): number {
    const { slow, maxSlowMs } = this.world.faults.network;
    const plain = latency.minMs + (this.random.nextInt(1_000) / 1_000) * latency.rangeMs;
    return slow > 0 && this.random.nextBoolean(slow) ? plain + this.random.nextInt(maxSlowMs) : plain;
  }

  /**
   * Opens a call. `onLost` is called in the context of the client, `onCancel` in that of the
   * server.
   * @param server undefined: nothing listens at this address
   */
  open(
    client: Program,
    server: Server | undefined,
    ends: { onLost: (error: ConnectionLost) => void; onCancel: () => void },
  ) {
    const call = new NetworkCall(this, { client, server, ...ends });
    for (const program of [client, server?.program]) if (program) this.#register(program, call);
    return call;
  }

  /**
   * One request and its reply. `handle` runs at the server when the request arrives.
   * @throws ConnectionLost; what `handle` throws; the reason of the signal; TimeoutError
   */
  request<Reply>(
    from: Program,
    to: Server,
    handle: () => Reply | Promise<Reply>,
    { timeoutMs, signal }: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const cancel = (reason: Error): void => {
        finish();
        call.cancel();
        reject(reason);
      };
      const onAbort = (): void => cancel(signal?.reason as Error);
      const stopTimer =
        timeoutMs === undefined
          ? () => undefined
          : from.after(timeoutMs, () => cancel(new DOMException('the request timed out', 'TimeoutError')));
      const finish = (): void => {
        stopTimer();
        signal?.removeEventListener('abort', onAbort);
      };
      const call = this.open(from, to, {
        onCancel: () => undefined,
        onLost: (error) => {
          finish();
          reject(error);
        },
      });
      const answer = (settle: () => void): void =>
        call.toClient(() => {
          finish();
          call.close();
          settle();
        });
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) return onAbort();
      call.toServer(() => {
        const run = async (): Promise<Reply> => handle();
        const settled = run();
        const reply = (): void => answer(() => resolve(settled));
        settled.then(reply, reply);
      });
    });
  }

  #register(program: Program, call: NetworkCall): void {
    let calls = this.#callsOf.get(program);
    if (!calls) {
      const made = new Set<NetworkCall>();
      calls = made;
      this.#callsOf.set(program, made);
      program.ended.addEventListener('abort', () => {
        this.#callsOf.delete(program);
        for (const each of made) each.onProgramEnd(program);
      });
    }
    calls.add(call);
    call.onClosed.push(() => calls.delete(call));
  }
}
