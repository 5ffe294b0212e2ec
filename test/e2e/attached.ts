/** NICs in sandboxes as the ledger sees them: who is bound to what, and whether anything was written. */
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/rpc.ts';
import { type AddressRecord, type Event, IpamService, LedgerService } from '../../proto/ipledger.ts';
import { callPlugin, type CniAnswer, type CniCommand, podArgs } from '../harness/cni.ts';
import { findPlugins } from '../harness/programs.ts';
import { eventually } from './eventually.ts';
import { cnitool, type Nic } from './sandbox.ts';
import type { Scene } from './scene.ts';

const options = { timeoutMs: 10_000 };

/** Does something with a connection to the allocator. */
async function asking<T>({ stack }: Scene, ask: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = connect(stack.allocator.endpoint, undefined);
  try {
    return await ask(connection);
  } finally {
    connection.close();
  }
}

/** The number of the last event. */
export const headOf = (scene: Scene): Promise<number> =>
  asking(scene, async (connection) => {
    const { position } = await call(connection, IpamService.list, { pageSize: 1 }, options);
    return position?.seq ?? 0;
  });

/** What is known of an address. */
export const recordOf = (scene: Scene, subnet: string, address: string): Promise<AddressRecord | undefined> =>
  asking(scene, async (connection) => (await call(connection, IpamService.get, { subnet, address }, options)).record);

/** The last event of an address. */
export const lastEventOf = (scene: Scene, subnet: string, address: string): Promise<Event | undefined> =>
  asking(scene, async (connection) => {
    const request = { subnet, address, pageSize: 1 };
    return (await call(connection, LedgerService.history, request, options)).events[0];
  });

/** Waits until an address is in this state, and bound to these containers. */
export const expectBound = (
  scene: Scene,
  [subnet, address]: readonly [subnet: string, address: string],
  ...containers: readonly string[]
): Promise<void> =>
  eventually(async () => {
    const record = await recordOf(scene, subnet, address);
    expect(record?.bindings.map(({ containerId }) => containerId)).to.deep.equal(containers);
  });

/** ADD in a sandbox, by cnitool and macvlan. @throws AssertionError with what was said when it fails. */
export async function attach(scene: Scene, nic: Nic): Promise<CniAnswer> {
  const answer = await cnitool(scene, 'add', nic);
  expect(answer.code, `${answer.stdout}${answer.stderr}`).to.equal(0);
  return answer;
}

/** DEL; as `attach`. */
export async function detach(scene: Scene, nic: Nic): Promise<void> {
  const { code, stdout, stderr } = await cnitool(scene, 'del', nic);
  expect(code, `${stdout}${stderr}`).to.equal(0);
}

/** The real macvlan, called as a runtime calls it that remembers no more than this. */
export async function macvlan(
  command: CniCommand,
  { node, sandbox, pod, network, ifName = 'net1' }: Nic,
  config: object,
  netns: string = sandbox.path,
): Promise<CniAnswer> {
  return callPlugin({
    command,
    plugin: join(await findPlugins(), 'macvlan'),
    config: { ...config, name: network },
    node,
    containerId: sandbox.containerId,
    netns,
    ifName,
    args: podArgs('default', pod),
  });
}
