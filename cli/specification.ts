/** What the specs of the command line are written with: the program as it is typed, and an allocator that gives fixed answers. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { IpledgerError } from '../lib/errors.ts';
import type { Input, Method } from '../proto/codec.ts';
import {
  type DiffReply,
  type DiffRequest,
  type Event,
  type ExportReply,
  type ExportRequest,
  type GetStatusReply,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  LedgerService,
  type ListReply,
  type ListRequest,
  type ListSubnetsReply,
  type StateAtReply,
  type StateAtRequest,
  SubnetsService,
  type WatchReply,
  type WatchRequest,
  type WhyReply,
  type WhyRequest,
} from '../proto/ipledger.ts';
import { refusal, serve } from '../test/grpc-server.ts';

/** The program. */
export const ipledger = join(import.meta.dirname, 'ipledger');

/** How it ended. */
export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment without what the person who runs the tests has set for ipledger, or as the cluster, in a time zone that all have. */
export function environment(added: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(IPLEDGER_|KUBE|HOME$)/.test(name));
  return { ...Object.fromEntries(inherited), TZ: 'UTC', ...added };
}

/** Runs it, or another program. */
export function run(args: readonly string[], added?: Record<string, string>, program = ipledger): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { env: environment(added), maxBuffer: 64 << 20 },
      (_error, stdout, stderr) => {
        resolve({ status: child.exitCode ?? -1, stdout, stderr });
      },
    );
  });
}

export interface Answers {
  listSubnets?: () => Input<ListSubnetsReply>;
  list?: (request: ListRequest) => Input<ListReply>;
  history?: (request: HistoryRequest) => Input<HistoryReply>;
  why?: (request: WhyRequest) => Input<WhyReply>;
  getStatus?: () => Input<GetStatusReply>;
  stateAt?: (request: StateAtRequest) => Iterable<Input<StateAtReply>>;
  diff?: (request: DiffRequest) => Iterable<Input<DiffReply>>;
  watch?: (request: WatchRequest) => Iterable<Input<WatchReply>>;
  export?: (request: ExportRequest) => Iterable<Input<ExportReply>>;
  /** Whether streams never end by themselves. */
  endless?: true;
}

/** An allocator that gives fixed answers; what an answer throws is its refusal. */
export function allocatorThat(answers: Answers) {
  const handler =
    <Request, Reply>(_method: Method<Request, Reply>, answer: ((request: Request) => Input<Reply>) | undefined) =>
    ({ request }: ServerUnaryCall<Request, Input<Reply>>, done: sendUnaryData<Input<Reply>>) => {
      try {
        if (!answer) throw new IpledgerError('BUG', 'this spec gives no answer to that');
        done(null, answer(request));
      } catch (error) {
        done(refusal(IpledgerError.from(error)));
      }
    };
  const streaming =
    <Request, Reply>(
      _method: Method<Request, Reply, 'serverStream'>,
      answer: ((request: Request) => Iterable<Input<Reply>>) | undefined,
    ) =>
    (call: ServerWritableStream<Request, Input<Reply>>) => {
      try {
        if (!answer) throw new IpledgerError('BUG', 'this spec gives no answer to that');
        for (const reply of answer(call.request)) call.write(reply);
        if (!answers.endless) call.end();
      } catch (error) {
        call.emit('error', refusal(IpledgerError.from(error)));
      }
    };
  return serve(
    [SubnetsService, { listSubnets: handler(SubnetsService.listSubnets, answers.listSubnets) }],
    [IpamService, { list: handler(IpamService.list, answers.list) }],
    [
      LedgerService,
      {
        history: handler(LedgerService.history, answers.history),
        why: handler(LedgerService.why, answers.why),
        getStatus: handler(LedgerService.getStatus, answers.getStatus),
        stateAt: streaming(LedgerService.stateAt, answers.stateAt),
        diff: streaming(LedgerService.diff, answers.diff),
        watch: streaming(LedgerService.watch, answers.watch),
        export: streaming(LedgerService.export, answers.export),
      },
    ],
  );
}

/** Runs it beside an allocator that gives these answers. */
export async function ask(answers: Answers, ...args: string[]): Promise<Ended> {
  await using server = await allocatorThat(answers);
  return await run(args, { IPLEDGER_ENDPOINT: server.endpoint });
}

/** Where the ledger stands. */
export const position = { epoch: 1, seq: 42, hash: '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9' };
export const attachment = { namespace: 'default', pod: 'web-0', provider: 'macvlan.default' };
/** Of the first Pod that had it. */
export const owner = { kind: 'StatefulSet', name: 'web', uid: 'uid-of-web' };
/** That minute of an hour. */
export const at = (minute: number): string => `2026-11-17T14:${String(minute).padStart(2, '0')}:00.000Z`;
/** An event of that minute. */
export const event = (seq: number, rest: Input<Event>): Input<Event> => ({
  seq,
  at: at(seq),
  subnet: 'macvlan',
  actor: 'ipledger://watcher',
  before: [{ address: '172.17.0.100' }],
  ...rest,
});

/** Of 172.17.0.100, newest first: one Pod had it from 14:05 to 14:30, the next since 14:40. */
export const life = [
  event(40, {
    type: 'AddressAllocated',
    addressAllocated: {
      attachment,
      uid: 'two',
      cause: 'ALLOCATION_CAUSE_DYNAMIC',
      node: 'node-b',
      addresses: [{ address: '172.17.0.100' }],
    },
  }),
  event(31, {
    type: 'AddressUnbound',
    addressUnbound: {
      attachment,
      containerId: 'c0ffee'.repeat(4),
      interface: 'net1',
      cause: 'UNBIND_CAUSE_CONTAINER_DELETED',
    },
  }),
  event(30, {
    type: 'AddressReleased',
    addressReleased: {
      attachment,
      uid: 'one',
      alloc: 5,
      cause: 'RELEASE_CAUSE_OWNER_DELETED',
      evidence: 'web is gone',
    },
  }),
  event(7, {
    type: 'AddressBound',
    addressBound: {
      attachment,
      uid: 'one',
      alloc: 5,
      containerId: 'c0ffee'.repeat(4),
      interface: 'net1',
      node: 'node-a',
    },
  }),
  event(5, {
    type: 'AddressAllocated',
    addressAllocated: {
      attachment,
      uid: 'one',
      owner,
      mac: '00:00:00:53:6b:bb',
      cause: 'ALLOCATION_CAUSE_STATIC',
      addresses: [{ address: '172.17.0.100' }],
    },
  }),
];
