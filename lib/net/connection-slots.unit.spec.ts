import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { ConnectionSlots } from './connection-slots.ts';

/** A connection of a client, which closes when it is destroyed. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  isOpen = true;

  constructor(remoteAddress: string | undefined) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

/** Opens one connection for each address, and returns which are open at the end. */
function opened(max: number, addresses: readonly string[]): { slots: ConnectionSlots; open: boolean[] } {
  const slots = new ConnectionSlots(max);
  const sockets = addresses.map((address) => {
    const socket = new FakeSocket(address);
    slots.hold(socket as unknown as Socket);
    return socket;
  });
  return { slots, open: sockets.map(({ isOpen }) => isOpen) };
}

describe('Connection slots', () => {
  it('Connection slots close the oldest connection of the client that has most after others have closed theirs', () => {
    const slots = new ConnectionSlots(4);
    const hold = (address: string): FakeSocket => {
      const socket = new FakeSocket(address);
      slots.hold(socket as unknown as Socket);
      return socket;
    };
    const [most, , one, two] = ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2'].map(hold);
    two?.destroy();
    hold('10.0.0.3');
    hold('10.0.0.4');
    expect([most?.isOpen, one?.isOpen]).to.deep.equal([false, true]);
    expect(slots.count).to.equal(4);
  });

  it('Connection slots close the oldest connection of the client that has most', () => {
    const { slots, open } = opened(3, ['10.0.0.1', '10.0.0.2', '10.0.0.2', '10.0.0.3']);
    expect(open).to.deep.equal([true, false, true, true]);
    expect(slots.count).to.equal(3);
  });

  it('Connection slots close the oldest connection when all clients have one connection', () => {
    expect(opened(2, ['10.0.0.1', '10.0.0.2', '10.0.0.3']).open).to.deep.equal([false, true, true]);
  });

  it('Connection slots count an IPv6 network as one client, and an IPv4 address in both forms', () => {
    const ofNetwork = ['fd00::1', 'fd00::ffff:2', 'fd00:0:0:1::1', 'fd00::3'];
    expect(opened(3, ofNetwork).open).to.deep.equal([false, true, true, true]);
    expect(opened(2, ['10.0.0.9', '::ffff:10.0.0.1', '10.0.0.1']).open).to.deep.equal([true, false, true]);
  });

  it('slots forget a connection that closes, and do not hold one that has already closed', () => {
    const slots = new ConnectionSlots(2);
    const [first, closed] = [new FakeSocket('10.0.0.1'), new FakeSocket(undefined)];
    for (const socket of [first, closed]) slots.hold(socket as unknown as Socket);
    expect(slots.count).to.equal(1);
    first.destroy();
    expect(slots.count).to.equal(0);
  });
});
