import { expect } from 'chai';
import { pino } from 'pino';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { call } from '../calls.ts';
import { connect } from '../http2/connect.ts';
import { listenOnLoopback } from '../testing/grpc-test-server.ts';
import { ClientConnections } from './client-connections.ts';
import { createServer } from './create-server.ts';
import { addGrpcService } from './serve.ts';

describe('A server that ends its connections', () => {
  it('a server that ends its connections first answers calls in progress; then its clients report the end and connect again', async () => {
    const log = pino({ level: 'silent' });
    const connections = new ClientConnections(false);
    const server = createServer({ tls: undefined, log, connections });
    const isHeld = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const listBindings = async (): Promise<object> => {
      isHeld.resolve();
      await release.promise;
      return {};
    };
    addGrpcService(server, IpamService, { listBindings }, { log });
    const seen: string[] = [];
    const isDisconnected = Promise.withResolvers<void>();
    const client = connect(await listenOnLoopback(server), undefined, 'allocator', () => {
      seen.push('disconnected');
      isDisconnected.resolve();
    });
    const list = async (): Promise<void> => {
      await call(client, IpamService.listBindings, {}, { timeoutMs: 20_000 });
      seen.push('reply');
    };
    const held = list();
    await isHeld.promise;
    connections.end();
    release.resolve();
    await Promise.all([held, isDisconnected.promise]);
    await list();
    expect(seen).to.deep.equal(['reply', 'disconnected', 'reply']);
    client.close();
    server.forceShutdown();
  });
});
