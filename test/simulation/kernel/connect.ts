/** The connection of a program to allocators: the real client, on simulated channels. */
import { Client, credentials } from '@grpc/grpc-js';
import type { Channel } from '../../../lib/grpc/channel.ts';
import { type Connection, createChannel, openConnection } from '../../../lib/grpc/client.ts';
import { type Addresses, simulatedChannel } from './grpc-channel.ts';
import type { Network } from './network.ts';
import type { Program } from './program.ts';

interface ConnectOptions {
  /** "host:port", or several separated by commas. */
  readonly endpoints: string;
  /** The allocations or bindings of a page; 0: the limit of the server. */
  readonly pageSize?: number;
}

export function connectTo(
  program: Program,
  network: Network,
  addresses: Addresses,
  { endpoints, pageSize = 0 }: ConnectOptions,
): Connection {
  const options = simulatedChannel(program, network, addresses);
  return openConnection(endpoints, undefined, 'allocator', (endpoint) =>
    withPages(createChannel(new Client(endpoint, credentials.createInsecure(), options)), pageSize),
  );
}

/** Small pages, so that few entries are several pages. */
const withPages = (channel: Channel, pageSize: number): Channel => ({
  ...channel,
  unary: (method, request, options) =>
    channel.unary(method, pageSize > 0 && isList(method) ? { ...request, pageSize } : request, options),
});

const isList = ({ path }: { readonly path: string }): boolean => /\/List(Allocations|Bindings)$/.test(path);
