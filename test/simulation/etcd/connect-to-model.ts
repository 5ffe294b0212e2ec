/** The real client of etcd, on channels that lead to a model. */
import type { ChannelOptions } from '@grpc/grpc-js';
import { poolOf } from '../../../ledger/log/store/connection-pool.ts';
import { connectEtcd, type EtcdClient } from '../../../ledger/log/store/etcd-client.ts';

/** @param channel of kernel/grpc-channel.ts */
export function connectToModel(endpoints: readonly string[], channel: ChannelOptions): EtcdClient {
  const client = connectEtcd(endpoints);
  for (const host of poolOf(client).hosts) host.channelOptions = { ...host.channelOptions, ...channel };
  return client;
}
