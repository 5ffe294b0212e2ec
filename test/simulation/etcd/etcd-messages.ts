/**
 * The messages of etcd's API, as the client package has them: encoded and decoded by its own
 * .proto.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import type { StoredKey } from './key-store.ts';

const client = dirname(createRequire(import.meta.url).resolve('etcd3'));
const definitions = loadSync(join(client, '..', 'proto', 'rpc.proto'), {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
});

interface MethodCodec {
  readonly path: string;
  readonly requestStream: boolean;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(reply: object): Buffer;
}

type Service = 'KV' | 'Lease' | 'Watch' | 'Maintenance';

/** The codec of a method. */
export function codecOf(service: Service, method: string): MethodCodec {
  const found = definitions[`etcdserverpb.${service}`] as unknown as Readonly<Record<string, MethodCodec>>;
  const codec = found[method];
  if (!codec) throw new Error(`etcd has no method ${service}.${method}`);
  return codec;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly range_end: Buffer;
  readonly limit: string;
  readonly revision: string;
  readonly keys_only: boolean;
  readonly count_only: boolean;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease: string;
}

export interface DeleteRequest {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

export interface Compare {
  readonly result: string;
  readonly target: string;
  readonly key: Buffer;
  readonly range_end: Buffer;
  readonly version?: string;
  readonly create_revision?: string;
  readonly mod_revision?: string;
  readonly value?: Buffer;
  readonly lease?: string;
}

export interface Operation {
  readonly request_range?: RangeRequest;
  readonly request_put?: PutRequest;
  readonly request_delete_range?: DeleteRequest;
}

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure: readonly Operation[];
}

export interface WatchRequest {
  readonly create_request?: {
    readonly key: Buffer;
    readonly range_end: Buffer;
    readonly start_revision: string;
    readonly prev_kv: boolean;
  };
  readonly cancel_request?: { readonly watch_id: string };
}

/** A KeyValue message. */
export const keyValue = (stored: StoredKey, keysOnly = false): object => ({
  key: Buffer.from(stored.key, 'latin1'),
  create_revision: stored.created,
  mod_revision: stored.modified,
  version: stored.version,
  value: keysOnly ? Buffer.alloc(0) : stored.value,
  lease: stored.lease,
});
