import { expect } from 'chai';
import { startTestServer } from '../../lib/grpc/testing/grpc-test-server.ts';
import {
  type GetAddressRequest,
  IpamService,
  type ListBindingsRequest,
  SubnetsService,
  type UnbindRequest,
} from '../../proto/generated/ipledger.ts';
import { position } from '../testing/address-events.fixture.ts';
import { runProgram } from '../testing/run-cli.ts';

type Done = (error: null, reply: object) => void;
interface Call<Request> {
  readonly request: Request;
}

const bindingOf = (containerId: string) => ({
  containerId,
  interface: 'net1',
  node: 'node-1',
  at: '2026-01-31T08:00:00.000Z',
});

/**
 * 10.0.0.2 is held by a Pod, 10.0.0.3 was released, and 10.0.0.4 has passed to the next Pod of the
 * name.
 */
const sandboxes = [
  ['10.0.0.2', 'runs', 7],
  ['10.0.0.3', 'ended', 8],
  ['10.0.0.4', 'earlier', 9],
].map(([address, pod, allocationSeq]) => ({
  attachment: { namespace: 'default', pod, provider: 'lan.default', ordinal: 0 },
  subnet: 'lan',
  addresses: [address],
  binding: bindingOf(`container-${pod}`),
  allocationSeq,
}));
const holders: Record<string, number> = { '10.0.0.2': 7, '10.0.0.4': 12 };

describe('ipledger unbind', () => {
  async function run(...args: string[]) {
    const [unbound, nodes]: [UnbindRequest[], string[]] = [[], []];
    await using allocator = await startTestServer(
      [
        IpamService,
        {
          listBindings: ({ request }: Call<ListBindingsRequest>, done: Done) => {
            nodes.push(request.node);
            done(null, { bindings: request.node === 'node-1' ? sandboxes : [] });
          },
          getAddress: ({ request: { address } }: Call<GetAddressRequest>, done: Done) => {
            const seq = holders[address];
            const bindings = [bindingOf('container-ended')];
            const record = { subnet: 'lan', address, state: seq ? 'bound' : 'held', bindings };
            done(null, { record: seq ? { ...record, allocation: { seq } } : record });
          },
          unbind: ({ request }: Call<UnbindRequest>, done: Done) => {
            unbound.push(request);
            done(null, { position, unbound: 1 });
          },
        },
      ],
      [
        SubnetsService,
        {
          listSubnets: (_call: unknown, done: Done) =>
            done(null, { subnets: [{ name: 'lan', spec: { cidrBlock: '10.0.0.0/24' } }] }),
        },
      ],
    );
    const result = await runProgram(['unbind', ...args, '--reason', 'powered off', '--allocator', allocator.endpoint]);
    return { ...result, unbound: unbound.map(({ containerId }) => containerId), requests: unbound, nodes };
  }

  it('ipledger unbind ends those bindings of a node whose addresses were released or transferred, and records the reason', async () => {
    const { status, stdout, unbound, requests, nodes } = await run('node-1', '--yes');
    expect({ status, stdout }).to.deep.equal({
      status: 0,
      stdout: '10.0.0.3 of subnet lan is no longer held\n10.0.0.4 of subnet lan is no longer held\n',
    });
    expect(nodes).to.deep.equal(['node-1']);
    expect(unbound).to.deep.equal(['container-ended', 'container-earlier']);
    expect(requests[0]).to.include({ cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED', evidence: 'powered off' });
  });

  it('ipledger unbind ends the bindings of one released address', async () => {
    expect(await run('10.0.0.3', '--yes')).to.deep.include({ status: 0, unbound: ['container-ended'] });
  });

  it('ipledger unbind changes nothing for an address that a Pod holds, for an unknown node, or without confirmation', async () => {
    expect(await run('10.0.0.2', '--yes')).to.deep.include({
      status: 1,
      stderr: 'ipledger: 10.0.0.2 of subnet lan is not held by a container: it is bound\n',
      unbound: [],
    });
    expect(await run('node-2', '--yes')).to.deep.include({
      status: 1,
      stderr: 'ipledger: no container on node node-2 holds a released address\n',
      unbound: [],
    });
    const unconfirmed = await run('node-1');
    expect(unconfirmed).to.deep.include({ status: 2, unbound: [] });
    expect(unconfirmed.stderr).to.contain('10.0.0.3 of subnet lan is held by container container-en');
  });
});
