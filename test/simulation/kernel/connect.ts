/** The connection of a program to allocators: the real client, on simulated channels. */
import { Client, credentials } from '@grpc/grpc-js';
import { type Connection, createChannel, openConnection } from '../../../lib/grpc/client.ts';
import { type Addresses, simulatedChannel } from './grpc-channel.ts';
import type { Network } from './network.ts';
import type { Program } from './program.ts';

/** @param endpoints "host:port", or several separated by commas */
export function connectTo(program: Program, network: Network, addresses: Addresses, endpoints: string): Connection {
  const options = simulatedChannel(program, network, addresses);
  return openConnection(endpoints, undefined, 'allocator', (endpoint) =>
    createChannel(new Client(endpoint, credentials.createInsecure(), options)),
  );
}
