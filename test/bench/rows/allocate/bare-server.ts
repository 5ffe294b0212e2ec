/**
 * The floor of the allocation rows, as a process: a plain grpc-js server whose Allocate writes the
 * same keys and as many bytes as an allocator, with the etcd client package. It decides nothing,
 * keeps no state and computes no hash. Requests that arrive during a transaction share the next
 * transaction.
 */
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { Etcd3, type IRequestOp } from 'etcd3';
import { HealthImplementation } from 'grpc-health-check';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type AllocateReply, type AllocateRequest, IpamService } from '../../../../proto/generated/ipledger.ts';
import { addressKey, headKey, logKey } from '../../../../ledger/log/store/keys.ts';

interface Queued {
  readonly request: AllocateRequest;
  readonly reply: sendUnaryData<MessageInput<AllocateReply>>;
}

const variable = (name: string): string => process.env[name] ?? '';
const valueOf = (name: string): Buffer => Buffer.alloc(Number(variable(name)), 'x');
const [eventValue, claimValue, headValue] = [
  valueOf('BARE_EVENT_BYTES'),
  valueOf('BARE_CLAIM_BYTES'),
  valueOf('BARE_HEAD_BYTES'),
];
/** Two keys for each allocation, and the head: at most 128 operations, as an allocator. */
const maxPerTransaction = 63;

const etcd = new Etcd3({ hosts: variable('BARE_ETCD') });
const queue: Queued[] = [];
let [seq, isWriting] = [0, false];

const put = (key: string, value: Buffer): IRequestOp => ({ request_put: { key: Buffer.from(key), value } });
const addressOf = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

async function writeQueued(): Promise<void> {
  if (isWriting) return;
  isWriting = true;
  while (queue.length > 0) {
    const batch = queue.splice(0, maxPerTransaction);
    const first = seq + 1;
    seq += batch.length;
    const puts = batch.flatMap((_, index) => [
      put(logKey(first + index), eventValue),
      put(addressKey({ subnet: 'bench', address: addressOf(first + index) }), claimValue),
    ]);
    const compare = [
      { key: Buffer.from(logKey(first)), target: 'Create', result: 'Equal', create_revision: '0' },
    ] as const;
    const { succeeded } = await etcd.kv.txn({ compare: [...compare], success: [...puts, put(headKey, headValue)] });
    if (!succeeded) throw new Error(`event ${first} exists`);
    for (const [index, { request, reply }] of batch.entries()) reply(null, replyTo(request, first + index));
  }
  isWriting = false;
}

function replyTo({ pod, attachments }: AllocateRequest, at: number): MessageInput<AllocateReply> {
  const [attachment] = attachments;
  const address = addressOf(at);
  return {
    position: { epoch: 1, seq: at, hash: '0'.repeat(64) },
    allocations: [
      {
        seq: at,
        attachment: { namespace: pod?.namespace, pod: pod?.name, provider: attachment?.provider, ordinal: 0 },
        podUid: pod?.uid,
        subnet: 'bench',
        addresses: [{ address, cidr: '10.0.0.0/8', gateway: '10.0.0.1' }],
        cause: 'ALLOCATION_CAUSE_DYNAMIC',
        at: new Date().toISOString(),
        network: 'bench.default',
      },
    ],
  };
}

const server = new Server();
server.addService(
  { allocate: IpamService.allocate },
  {
    allocate: ({ request }: ServerUnaryCall<AllocateRequest, unknown>, reply: Queued['reply']) => {
      queue.push({ request, reply });
      void writeQueued();
    },
  },
);
new HealthImplementation({ '': 'SERVING' }).addToServer(server);
server.bindAsync(variable('BARE_LISTEN'), ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
