/** A call between a client and a server: two directions, each in order, over one connection. */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Clocks, Program } from './program.ts';
import type { Timeline } from './timeline.ts';

/** What programs call. Unreachable after the end of its program. */
export interface Server {
  readonly name: string;
  readonly machine: Clocks;
  /** Absent for a model that is no program. */
  readonly program?: Program;
}

/** How a call of a client ended without an answer. */
export class ConnectionLost extends Error {
  /** False if the server has certainly not received the request. */
  readonly sent: boolean;

  constructor(sent: boolean) {
    super(sent ? 'the connection broke' : 'no connection');
    this.sent = sent;
  }
}

/** The network that a call passes. */
export interface Medium {
  readonly world: Timeline;
  readonly random: SeededRandom;
  /** When the last connection broke. */
  brokeAt: number;
  isCut(one: Clocks, other: Clocks): boolean;
  /** The time that a message takes now. */
  latencyMs(): number;
}

interface Ends {
  readonly client: Program;
  readonly server: Server | undefined;
  readonly onLost: (error: ConnectionLost) => void;
  readonly onCancel: () => void;
}

/** After so long without packets a connection counts as broken: keepalives. */
export const silence = { minMs: 5_000, rangeMs: 5_000 };

export class NetworkCall {
  readonly onClosed: (() => void)[] = [];
  readonly #network: Medium;
  readonly #ends: Ends;
  #isOpen = true;
  #isBroken = false;
  #arrivesAt = { server: 0, client: 0 };

  constructor(network: Medium, ends: Ends) {
    this.#network = network;
    this.#ends = ends;
  }

  /** Sends to the server. `arrive` runs in its context, or never. */
  toServer(arrive: () => void): void {
    const { server } = this.#ends;
    if (!server || server.program?.isAlive === false) return this.#break(false, this.#network.latencyMs());
    this.#transfer('server', server.program, arrive);
  }

  /** Sends to the client. `arrive` runs in its context, or never. */
  toClient(arrive: () => void): void {
    this.#transfer('client', this.#ends.client, arrive);
  }

  /** The client ends the call. */
  cancel(): void {
    if (!this.#isOpen) return;
    const { server, onCancel } = this.#ends;
    const wasBroken = this.#isBroken;
    this.close();
    if (!wasBroken && server) this.#network.world.after(this.#network.latencyMs(), onCancel, server.program, 'cancel');
  }

  /** The call is over for both. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const each of this.onClosed) each();
  }

  /** The other side sees a closed connection. */
  onProgramEnd(program: Program): void {
    if (!this.#isOpen) return;
    if (program === this.#ends.client) this.cancel();
    else this.#break(true, this.#network.latencyMs());
  }

  #transfer(to: 'server' | 'client', program: Program | undefined, arrive: () => void): void {
    if (!this.#isOpen || this.#isBroken) return;
    const { world, random } = this.#network;
    const { lose, reset } = world.faults.network;
    if (this.#isCut || (lose > 0 && random.nextBoolean(lose)))
      return this.#break(true, silence.minMs + random.nextInt(silence.rangeMs));
    const isReset = reset > 0 && random.nextBoolean(reset);
    if (!isReset || random.nextBoolean(0.5)) {
      const at = Math.max(this.#arrivesAt[to] + 0.001, world.now + this.#network.latencyMs());
      this.#arrivesAt[to] = at;
      const isReply = to === 'client';
      world.after(
        at - world.now,
        () => {
          // What arrives at the client after its end is not seen. What arrives at a server is
          // executed.
          if (isReply ? this.#isOpen && !this.#isBroken : true) arrive();
        },
        program,
        to,
      );
    }
    if (isReset) this.#break(true, this.#network.latencyMs());
  }

  get #isCut(): boolean {
    const { client, server } = this.#ends;
    return server !== undefined && this.#network.isCut(client.machine, server.machine);
  }

  /** The connection breaks, which both sides see after `ms`. Nothing more passes. */
  #break(sent: boolean, ms: number): void {
    if (!this.#isOpen || this.#isBroken) return;
    this.#isBroken = true;
    this.#network.brokeAt = this.#network.world.now;
    const { client, server, onLost, onCancel } = this.#ends;
    const { world } = this.#network;
    world.trace(`call of ${client.name} to ${server?.name ?? 'no server'} breaks`);
    world.after(
      ms,
      () => {
        if (!this.#isOpen) return;
        this.close();
        onLost(new ConnectionLost(sent));
      },
      client,
      'lost',
    );
    if (server) world.after(ms, onCancel, server.program, 'cancel');
  }
}
