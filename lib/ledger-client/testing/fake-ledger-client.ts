/** A ledger client whose answers come from functions of the spec. */
import type { MessageInput, Method } from '../../../proto/codec.ts';
import {
  IpamService,
  LedgerService,
  SubnetsService,
  ViewsService,
  type WatchReply,
  type WatchRequest,
} from '../../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../ledger-client.ts';

const services = { ...IpamService, ...SubnetsService, ...LedgerService, ...ViewsService };

type Replies = {
  readonly [Name in keyof typeof services]?: (typeof services)[Name] extends Method<infer Request, infer Reply, 'unary'>
    ? (request: MessageInput<Request>) => MessageInput<Reply> | Promise<MessageInput<Reply>>
    : never;
};

/** The answers to the methods that the spec expects. Absent fields have their defaults. */
export interface FakeLedger extends Replies {
  readonly watchReplies?: (request: MessageInput<WatchRequest>) => AsyncIterable<WatchReply>;
}

export function fakeLedgerClient({ watchReplies, ...replies }: FakeLedger): LedgerClient {
  const byPath = new Map(
    Object.entries(replies).map(([name, reply]) => [
      services[name as keyof typeof services].path,
      reply as (request: unknown) => unknown,
    ]),
  );
  return {
    async call(method, request) {
      const reply = byPath.get(method.path);
      if (!reply) throw new Error(`the spec expects no call of ${method.path}`);
      return method.responseDeserialize(method.responseSerialize((await reply(request)) as MessageInput<never>));
    },
    stream(method, request) {
      if (!watchReplies || method.path !== LedgerService.watch.path)
        throw new Error(`the spec expects no stream of ${method.path}`);
      return watchReplies(request as MessageInput<WatchRequest>) as AsyncIterable<never>;
    },
  };
}
