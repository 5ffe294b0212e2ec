import { expect } from 'chai';
import { calm, type Faults } from './faults.ts';
import type { ConnectionLost } from './network-call.ts';
import { Network } from './network.ts';
import { installVirtualTime } from './virtual-time.ts';
import { World } from './world.ts';

const network = (faults: Partial<Faults['network']>): Faults => ({ ...calm, network: { ...calm.network, ...faults } });

describe('Network', () => {
  let uninstall: () => void;
  beforeEach(() => (uninstall = installVirtualTime()));
  afterEach(() => uninstall());

  /** A client that sends numbers to a server, one after the other, and what both of them see. */
  async function send(count: number, prepare: (world: World, made: Network) => void, seed = 1) {
    const world = new World(seed);
    const made = new Network(world);
    const server = { name: 'server', machine: world.machine('server') };
    const [received, answered, lost]: [number[], number[], ConnectionLost[]] = [[], [], []];
    prepare(world, made);
    const client = world.machine('client').start('client', async () => {
      for (let number = 0; number < count; number++)
        try {
          answered.push(await made.request(client, server, () => received.push(number) && number));
        } catch (error) {
          lost.push(error as ConnectionLost);
        }
    });
    await world.runUntil(() => answered.length + lost.length === count, 3_600_000);
    return { world, received, answered, lost };
  }

  it('Network delivers each request and reply of a calm network', async () => {
    const { received, answered, lost } = await send(20, () => undefined);
    expect(received).to.deep.equal(Array.from({ length: 20 }, (_, index) => index));
    expect(answered).to.deep.equal(received);
    expect(lost).to.deep.equal([]);
  });

  it('Network loses requests before and after they took effect', async () => {
    const { received, answered, lost } = await send(
      200,
      (world) => (world.faults = network({ lose: 0.3, reset: 0.3 })),
    );
    expect(lost.length).to.equal(200 - answered.length);
    expect(lost.every(({ sent }) => sent)).to.equal(true);
    expect(received.length, 'some lost before').to.be.lessThan(200);
    expect(received.length, 'some lost after').to.be.greaterThan(answered.length);
    expect(received).to.include.members(answered);
  });

  it('Network drops all packets of a machine that is cut off, until that ends', async () => {
    let heal = (): void => undefined;
    const { answered, lost, world } = await send(3, (made, cut) => {
      heal = cut.cut(made.machine('client'));
      made.after(1_000, () => heal());
    });
    expect(lost.length).to.equal(1);
    expect(answered).to.deep.equal([1, 2]);
    expect(world.now, 'a silent connection breaks after a keepalive').to.be.greaterThan(5_000);
  });

  it('Network keeps the order of what one call sends', async () => {
    const world = new World(3);
    world.faults = network({ slow: 0.5, maxSlowMs: 1_000 });
    const made = new Network(world);
    const seen: number[] = [];
    const client = world.machine('client').start('client', () => {
      const call = made.open(
        client,
        { name: 'server', machine: world.machine('server') },
        {
          onLost: () => undefined,
          onCancel: () => undefined,
        },
      );
      for (let number = 0; number < 20; number++) call.toServer(() => seen.push(number));
    });
    await world.runUntil(() => seen.length === 20, 60_000);
    expect(seen).to.deep.equal(Array.from({ length: 20 }, (_, index) => index));
  });

  it('Network reports to a client that nothing listens, and to both ends when the other one crashes', async () => {
    const world = new World(1);
    const made = new Network(world);
    const seen: string[] = [];
    const server = world.machine('server').start('server', () => undefined);
    const client = world.machine('client').start('client', () => {
      const ends = (name: string) => ({
        onLost: ({ sent }: ConnectionLost) => seen.push(`${name} lost, ${sent ? 'sent' : 'not sent'}`),
        onCancel: () => seen.push(`${name} cancelled`),
      });
      made.open(client, undefined, ends('no server')).toServer(() => undefined);
      const open = made.open(client, { name: 'server', machine: server.machine, program: server }, ends('server'));
      open.toServer(() => seen.push('arrived'));
    });
    await world.runUntil(() => seen.length === 2, 1_000);
    server.crash();
    await world.runUntil(() => seen.length === 3, 1_000);
    expect(seen.toSorted()).to.deep.equal(['arrived', 'no server lost, not sent', 'server lost, sent']);
  });
});
