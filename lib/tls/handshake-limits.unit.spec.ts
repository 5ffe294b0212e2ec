import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { HandshakeQueue } from './handshake-limits.ts';

let ports = 0;

/** A connection that has the given first message. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number;
  readonly localAddress = '10.0.0.1';
  readableLength = 0;
  destroyed = false;

  constructor(remoteAddress: string | undefined, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  setTimeout(): void {}

  /** Receives bytes. Without any, the client has ended the connection. */
  receive(bytes: number): void {
    this.readableLength = bytes;
    this.emit('readable');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A queue whose pauses the spec ends, and the client of each handshake that has begun. */
function createQueue() {
  const begun: FakeSocket[] = [];
  const pauses: (() => void)[] = [];
  const queue = new HandshakeQueue(
    (socket) => begun.push(socket as unknown as FakeSocket),
    (run) => pauses.push(run),
  );
  return {
    queue,
    clients: () => begun.map(({ remoteAddress }) => remoteAddress),
    begun,
    /** Opens a connection, and lets its first message arrive. */
    open(address: string | undefined, bytes = 500, remotePort = ++ports): FakeSocket {
      const socket = new FakeSocket(address, remotePort);
      queue.add(socket as unknown as Socket);
      if (bytes > 0) socket.receive(bytes);
      return socket;
    },
    endHandshake: (socket: FakeSocket | undefined) => socket && queue.end(socket),
    /** Lets turns and pauses pass until none is left. */
    async passPauses(): Promise<void> {
      await nextTurn();
      for (let run = pauses.shift(); run; run = pauses.shift()) run();
    },
  };
}

describe('Limits of TLS handshakes', () => {
  it('limits of TLS handshakes begin one between two pauses, however many connections send their first message in a turn', async () => {
    const { open, clients, queue } = createQueue();
    for (let count = 0; count < 900; count++) open(`10.1.0.${count % 250}`);
    await nextTurn();
    expect(clients()).to.have.length(1);
    expect(queue.waiting).to.equal(899);
    await nextTurn();
    expect(clients(), 'during the pause').to.have.length(1);
  });

  it('limits of TLS handshakes keep the pause for a connection that arrives in it', async () => {
    const { open, clients, passPauses } = createQueue();
    open('10.1.0.1');
    await nextTurn();
    open('10.1.0.2');
    await nextTurn();
    expect(clients()).to.have.length(1);
    await passPauses();
    expect(clients()).to.have.length(2);
  });

  it('a client with one connection waits for one handshake of a client with many', async () => {
    const { open, clients, passPauses } = createQueue();
    for (let count = 0; count < 5; count++) open('10.1.0.1');
    open('10.1.0.2');
    await passPauses();
    expect(clients().slice(0, 3)).to.deep.equal(['10.1.0.1', '10.1.0.2', '10.1.0.1']);
  });

  it('a client has at most 8 handshakes under way, and another one is served', async () => {
    const { open, clients, begun, passPauses, endHandshake } = createQueue();
    for (let count = 0; count < 20; count++) open('10.1.0.1');
    await passPauses();
    expect(clients()).to.have.length(8);
    open('10.1.0.2');
    await passPauses();
    expect(clients()).to.have.length(9);
    endHandshake(begun[0]);
    begun[1]?.destroy();
    await passPauses();
    expect(clients().slice(9)).to.deep.equal(['10.1.0.1', '10.1.0.1']);
  });

  it('all clients have at most 64 handshakes under way', async () => {
    const { open, clients, begun, passPauses, endHandshake } = createQueue();
    for (let count = 0; count < 100; count++) open(`10.1.0.${count}`);
    await passPauses();
    expect(clients()).to.have.length(64);
    endHandshake(begun[0]);
    await passPauses();
    expect(clients()).to.have.length(65);
  });

  it('a handshake that takes 2 s is closed, and the next one begins', async () => {
    const { queue, open, begun, clients, passPauses, endHandshake } = createQueue();
    for (let count = 0; count < 9; count++) open('10.1.0.1');
    await passPauses();
    endHandshake(begun[0]);
    await passPauses();
    queue.sweep(performance.now() + 1_000);
    expect(begun.some(({ destroyed }) => destroyed)).to.equal(false);
    open('10.1.0.1');
    queue.sweep(performance.now() + 2_001);
    expect(begun.map(({ destroyed }) => destroyed)).to.deep.equal([false, ...Array<boolean>(8).fill(true)]);
    await passPauses();
    expect(clients()).to.have.length(10);
  });

  it('a connection that is destroyed, and not closed yet, has no handshake and takes no place', async () => {
    const { open, clients, passPauses } = createQueue();
    for (let count = 0; count < 8; count++) open('10.1.0.1').destroyed = true;
    open('10.1.0.1');
    await passPauses();
    expect(clients()).to.deep.equal(['10.1.0.1']);
  });

  it('silent and closed connections take no turn, and one with a long first message is closed', async () => {
    const { queue, open, clients, passPauses } = createQueue();
    open('10.1.0.1', 0);
    open('10.1.0.2').destroy();
    const ended = open('10.1.0.3', 0);
    ended.receive(0);
    const long = open('10.1.0.4', 16_390);
    open('10.1.0.5', 16_389);
    expect([ended.destroyed, long.destroyed, queue.waiting]).to.deep.equal([true, true, 1]);
    await passPauses();
    expect(clients()).to.deep.equal(['10.1.0.5']);
  });

  it('a connection that its client reset before the server accepted it is closed', () => {
    const { open } = createQueue();
    expect(open(undefined, 0).destroyed).to.equal(true);
  });

  it('a connection keeps its place when an earlier one of the same address and port ends', async () => {
    const { open, begun, passPauses } = createQueue();
    const earlier = open('10.1.0.1');
    await passPauses();
    const later = open('10.1.0.1', 500, earlier.remotePort);
    for (let count = 0; count < 8; count++) open('10.1.0.1');
    await passPauses();
    expect([earlier.destroyed, later.destroyed, begun.length]).to.deep.equal([true, false, 9]);
    earlier.emit('close');
    await passPauses();
    expect(begun).to.have.length(9);
  });
});
