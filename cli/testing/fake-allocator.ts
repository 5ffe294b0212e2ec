/** An allocator with fixed replies, for the specs of the CLI. */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { IpledgerError } from '../../lib/errors.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import {
  type DiffReply,
  type DiffRequest,
  type ExportReply,
  type ExportRequest,
  type GetAddressReply,
  type GetStatusReply,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  LedgerService,
  type ListAllocationsReply,
  type ListAllocationsRequest,
  type ListSubnetsReply,
  type StateAtReply,
  type StateAtRequest,
  SubnetsService,
  type VerifyReply,
  type WatchReply,
  type WatchRequest,
  type WhyReply,
  type WhyRequest,
} from '../../proto/generated/ipledger.ts';
import { startTestServer, toServiceError } from '../../lib/grpc/testing/grpc-test-server.ts';
import { type CliResult, runProgram } from './run-cli.ts';

export interface FakeReplies {
  listSubnets?: () => MessageInput<ListSubnetsReply>;
  list?: (request: ListAllocationsRequest) => MessageInput<ListAllocationsReply>;
  getAddress?: () => MessageInput<GetAddressReply>;
  history?: (request: HistoryRequest) => MessageInput<HistoryReply>;
  why?: (request: WhyRequest) => MessageInput<WhyReply>;
  getStatus?: () => MessageInput<GetStatusReply>;
  stateAt?: (request: StateAtRequest) => Iterable<MessageInput<StateAtReply>>;
  diff?: (request: DiffRequest) => Iterable<MessageInput<DiffReply>>;
  watch?: (request: WatchRequest) => Iterable<MessageInput<WatchReply>>;
  export?: (request: ExportRequest) => Iterable<MessageInput<ExportReply>>;
  verify?: () => Iterable<MessageInput<VerifyReply>>;
  /** Keeps streams open after their last reply. */
  keepsStreamsOpen?: true;
}

/** Starts a fake allocator. A reply function that throws makes it reject the request. */
export function startFakeAllocator(replies: FakeReplies) {
  const handler =
    <Request, Reply>(
      _method: Method<Request, Reply>,
      createReply: ((request: Request) => MessageInput<Reply>) | undefined,
    ) =>
    ({ request }: ServerUnaryCall<Request, MessageInput<Reply>>, done: sendUnaryData<MessageInput<Reply>>) => {
      try {
        if (!createReply) throw new IpledgerError('BUG', 'the spec has no reply for this method');
        done(null, createReply(request));
      } catch (error) {
        done(toServiceError(IpledgerError.from(error)));
      }
    };
  const streaming =
    <Request, Reply>(
      _method: Method<Request, Reply, 'serverStream'>,
      createReply: ((request: Request) => Iterable<MessageInput<Reply>>) | undefined,
    ) =>
    (call: ServerWritableStream<Request, MessageInput<Reply>>) => {
      try {
        if (!createReply) throw new IpledgerError('BUG', 'the spec has no reply for this method');
        for (const reply of createReply(call.request)) call.write(reply);
        if (!replies.keepsStreamsOpen) call.end();
      } catch (error) {
        call.emit('error', toServiceError(IpledgerError.from(error)));
      }
    };
  return startTestServer(
    [SubnetsService, { listSubnets: handler(SubnetsService.listSubnets, replies.listSubnets) }],
    [
      IpamService,
      {
        listAllocations: handler(IpamService.listAllocations, replies.list),
        getAddress: handler(IpamService.getAddress, replies.getAddress),
      },
    ],
    [
      LedgerService,
      {
        history: handler(LedgerService.history, replies.history),
        why: handler(LedgerService.why, replies.why),
        getStatus: handler(LedgerService.getStatus, replies.getStatus),
        stateAt: streaming(LedgerService.stateAt, replies.stateAt),
        diff: streaming(LedgerService.diff, replies.diff),
        watch: streaming(LedgerService.watch, replies.watch),
        export: streaming(LedgerService.export, replies.export),
        verify: streaming(LedgerService.verify, replies.verify),
      },
    ],
  );
}

/** Runs the program against a fake allocator. */
export async function runWithFakeAllocator(replies: FakeReplies, ...args: string[]): Promise<CliResult> {
  await using server = await startFakeAllocator(replies);
  return await runProgram(args, { IPLEDGER_ENDPOINT: server.endpoint });
}
