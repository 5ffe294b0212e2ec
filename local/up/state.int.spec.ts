import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { findFreePort } from '../../test/harness/processes/free-ports.ts';
import { assignPort, type UpState } from './state.ts';

describe('The ports of `make up`', () => {
  let state: UpState;
  let occupant: Server | undefined;
  beforeEach(() => void (state = { ports: {}, nodes: 1, daemonSocket: false, tls: false, cluster: 'own' }));
  afterEach(() => void occupant?.close());

  async function occupied(): Promise<number> {
    const port = await findFreePort();
    occupant = createServer();
    await new Promise<void>((resolve) => occupant?.listen(port, '127.0.0.1', resolve));
    return port;
  }

  it('The ports of `make up` do not change', async () => {
    const first = await assignPort(state, 'etcd', []);
    expect(await assignPort(state, 'etcd', [])).to.equal(first);
    expect(await assignPort(state, 'allocator', [])).to.not.equal(first);
  });

  it('The ports of `make up` do not change for a running server', async () => {
    state.ports['etcd'] = await occupied();
    expect(await assignPort(state, 'etcd', ['etcd'])).to.equal(state.ports['etcd']);
  });

  it('The ports of `make up` change if another program took a port while no server ran', async () => {
    const taken = await occupied();
    state.ports['etcd'] = taken;
    expect(await assignPort(state, 'etcd', [])).to.not.equal(taken);
  });

  it('The ports of `make up` cause an error if a port was taken while other servers run', async () => {
    state.ports['etcd'] = await occupied();
    const failed: unknown = await assignPort(state, 'etcd', ['allocator']).catch((error: unknown) => error);
    expect(failed).to.have.property('message').that.contains('taken by another program: run `make down`');
  });
});
