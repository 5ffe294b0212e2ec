/** Calls ADD and DEL of NICs in sandboxes, and reads what the ledger records about them. */
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect, type Connection } from '../../../lib/grpc/client.ts';
import { type AddressRecord, type Event, IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { callPlugin, type CniAnswer, type CniCommand, podArgs } from '../../harness/cni.ts';
import { findPlugins } from '../../harness/programs/find-program.ts';
import { eventually } from './eventually.ts';
import { cnitool, type Nic } from './sandbox.ts';
import type { TestEnvironment } from './test-environment.ts';

const options = { timeoutMs: 10_000 };

async function withConnection<T>(
  { stack }: TestEnvironment,
  request: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = connect(stack.allocator.endpoint, undefined);
  try {
    return await request(connection);
  } finally {
    connection.close();
  }
}

/** Reads the sequence number of the last event. */
export const readHeadSeq = (scene: TestEnvironment): Promise<number> =>
  withConnection(scene, async (connection) => {
    const { position } = await call(connection, IpamService.listAllocations, { pageSize: 1 }, options);
    return position?.seq ?? 0;
  });

/** Reads the ledger's record of an address. */
export const readAddressRecord = (
  scene: TestEnvironment,
  subnet: string,
  address: string,
): Promise<AddressRecord | undefined> =>
  withConnection(
    scene,
    async (connection) => (await call(connection, IpamService.getAddress, { subnet, address }, options)).record,
  );

/** Reads the last event of an address. */
export const readLastEvent = (scene: TestEnvironment, subnet: string, address: string): Promise<Event | undefined> =>
  withConnection(scene, async (connection) => {
    const request = { subnet, address, pageSize: 1 };
    return (await call(connection, LedgerService.history, request, options)).events[0];
  });

/** Waits until an address is bound to exactly these containers. */
export const expectBound = (
  scene: TestEnvironment,
  [subnet, address]: readonly [subnet: string, address: string],
  ...containers: readonly string[]
): Promise<void> =>
  eventually(async () => {
    const record = await readAddressRecord(scene, subnet, address);
    expect(record?.bindings.map(({ containerId }) => containerId)).to.deep.equal(containers);
  });

/** Calls ADD by cnitool and macvlan. @throws AssertionError with the output if it fails */
export async function attach(scene: TestEnvironment, nic: Nic): Promise<CniAnswer> {
  const answer = await cnitool(scene, 'add', nic);
  expect(answer.code, `${answer.stdout}${answer.stderr}`).to.equal(0);
  return answer;
}

/** Calls DEL; see `attach`. */
export async function detach(scene: TestEnvironment, nic: Nic): Promise<void> {
  const { code, stdout, stderr } = await cnitool(scene, 'del', nic);
  expect(code, `${stdout}${stderr}`).to.equal(0);
}

/** Calls the real macvlan, as a runtime that passes no stored result. */
export async function callMacvlanPlugin(
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
