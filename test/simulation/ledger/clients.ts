/** The clients of the simulation: programs that send commands, and repeat some of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Connection } from '../../../lib/grpc/client.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';
import type { Program } from '../kernel/program.ts';
import type { AddressBook } from './address-book.ts';
import type { AnswerWitness, PodRequest } from './answer-witness.ts';
import { addressOf, type AllocatorCluster } from './allocator-cluster.ts';
import type { Command } from './commands.ts';

const timeoutMs = 4_000;

/** The answer, or why there is none. */
export type Answer = { readonly reply: object } | { readonly code: string; readonly message: string };

export class Client {
  readonly program: Program;
  readonly #connection: Connection;
  readonly #witness: AnswerWitness;
  readonly #book: AddressBook;
  /** Commands without an outcome. */
  pending = 0;

  constructor(cluster: AllocatorCluster, name: string, witness: AnswerWitness, book: AddressBook) {
    this.program = cluster.world.machine(name).start(name, () => undefined);
    // Each client prefers another replica
    const { names } = cluster;
    const first = cluster.world.random(name).nextInt(names.length);
    const order = [...names.slice(first), ...names.slice(0, first)].map(addressOf);
    this.#connection = this.program.run(() => cluster.connect(this.program, order.join(',')));
    this.#witness = witness;
    this.#book = book;
  }

  /** Sends a command, up to `tries` times while its outcome is not known. */
  send(command: Command, tries: number): Promise<Answer> {
    return this.program.run(() => this.#send(command, tries));
  }

  async #send({ what, method, request: made, lag }: Command, tries: number): Promise<Answer> {
    const { world } = this.program.machine;
    const request: object = typeof made === 'function' ? (made as (book: AddressBook) => object)(this.#book) : made;
    this.pending++;
    try {
      const seen = lag === undefined ? {} : { seenSeq: Math.max(1, this.#witness.acknowledged - lag) };
      if ('attachments' in request) this.#witness.onRequested(request as PodRequest, seen.seenSeq);
      for (let left = tries; ; left--) {
        const before = this.#witness.acknowledged;
        try {
          const reply = await call(this.#connection, method, { ...request, ...seen } as never, { timeoutMs });
          world.trace(`${this.program.name}: ${what}: ${JSON.stringify(summaryOf(reply))}`);
          this.#witness.onReceived(what, reply.position as Position | undefined, before);
          return { reply };
        } catch (error) {
          const { code, message } = IpledgerError.from(error);
          world.trace(`${this.program.name}: ${what}: ${code} ${message}`);
          this.#witness.onRefused(what, request, code);
          if (left <= 1 || !unknown.has(code)) return { code, message };
          await sleep(100 + Math.random() * 400);
        }
      }
    } finally {
      this.pending--;
    }
  }
}

/** After these the outcome is unknown, or the command was not executed. */
const unknown: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'DEADLINE_PASSED',
  'NOT_WRITER',
  'CANCELLED',
  'OVERLOADED',
]);

const summaryOf = (reply: object): object => {
  const { position, allocations, ...rest } = reply as {
    readonly position?: Position;
    readonly allocations?: readonly {
      readonly podUid: string;
      readonly addresses: readonly { readonly address: string }[];
    }[];
  };
  const held = allocations?.map(
    ({ podUid, addresses }) => `${podUid} ${addresses.map(({ address }) => address).join()}`,
  );
  return { seq: position?.seq, ...(held ? { held } : {}), ...(Object.keys(rest).length < 3 ? rest : {}) };
};
