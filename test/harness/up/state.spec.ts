import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../ports.ts';
import { portOf, type State } from './state.ts';

describe('the ports of `make up`', () => {
  let state: State;
  let occupant: Server | undefined;
  beforeEach(() => void (state = { ports: {}, nodes: 1, daemonSocket: false, tls: false, cluster: 'own' }));
  afterEach(() => void occupant?.close());

  async function occupied(): Promise<number> {
    const port = await freePort();
    occupant = createServer();
    await new Promise<void>((resolve) => occupant?.listen(port, '127.0.0.1', resolve));
    return port;
  }

  it('stay as they were', async () => {
    const first = await portOf(state, 'etcd', []);
    expect(await portOf(state, 'etcd', [])).to.equal(first);
    expect(await portOf(state, 'allocator', [])).to.not.equal(first);
  });

  it('stay with a server that runs and so occupies its own', async () => {
    state.ports['etcd'] = await occupied();
    expect(await portOf(state, 'etcd', ['etcd'])).to.equal(state.ports['etcd']);
  });

  it('are chosen anew when another program took one while nothing ran', async () => {
    const taken = await occupied();
    state.ports['etcd'] = taken;
    expect(await portOf(state, 'etcd', [])).to.not.equal(taken);
  });

  it('are an error when one was taken and servers that know it run', async () => {
    state.ports['etcd'] = await occupied();
    const failed: unknown = await portOf(state, 'etcd', ['allocator']).catch((error: unknown) => error);
    expect(failed).to.have.property('message').that.contains('taken by another program: run `make down`');
  });
});
