/**
 * The contents of the ledger in the console's tests: addresses in every state, many Pods, and texts
 * of a hostile tenant.
 */
import { call, type Connection } from '../../lib/grpc/client.ts';
import type { MessageInput } from '../../proto/codec.ts';
import { type AllocateRequest, IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';

const timeoutMs = 30_000;

/** Markup, entities, and letters that are written from right to left: the ledger accepts them. */
export const hostileText = '<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd (1) &amp;';

/** Pods in Subnet lan, and how many of them have a container. */
const [podsOfLan, boundOfLan] = [40, 28];
/** The number of Pods in Subnet big. Each has 24 addresses. */
const podsOfBig = 417;
const attachments = 24;
export const addressesOfBig = podsOfBig * attachments;

/** The connections: agents bind, and operators do everything else. */
interface Connections {
  readonly operator: Connection;
  readonly agent: Connection;
}

export async function fillLedger({ operator: connection, agent }: Connections): Promise<void> {
  const apply = (name: string, spec: object): Promise<unknown> =>
    call(connection, SubnetsService.applySubnet, { name, spec }, { timeoutMs });
  await apply('lan', { cidrBlock: '10.8.0.0/24', provider: 'lan.default', excludeIps: ['10.8.0.200..10.8.0.220'] });
  await apply('dual', { cidrBlock: '10.9.0.0/24,fd00:9::/64', provider: 'dual.default' });
  await apply('big', { cidrBlock: '10.32.0.0/16', provider: 'big.default' });
  const lan = { provider: 'lan.default', subnet: 'lan' };
  for (let index = 0; index < podsOfLan; index++) await allocate(connection, { ...lan, name: `web-${index}` });
  await allocate(connection, { name: 'both', provider: 'dual.default', subnet: 'dual' });
  for (let index = 0; index < boundOfLan; index++) await bind(agent, `web-${index}`);
  // web-1 is held: a container may still answer. The others are in cooldown
  for (const index of [1, boundOfLan, boundOfLan + 1]) await release(connection, `web-${index}`);
  const ipam = { subnet: 'lan', reason: 'a printer' };
  await call(
    connection,
    IpamService.reserve,
    { ...ipam, addresses: ['10.8.0.100'], reservedFor: 'vip/printer' },
    { timeoutMs },
  );
  await call(
    connection,
    IpamService.reserve,
    { subnet: 'lan', addresses: ['10.8.0.101'], reservedFor: hostileText, reason: hostileText },
    { timeoutMs },
  );
  await call(
    connection,
    IpamService.quarantine,
    { ...ipam, address: '10.8.0.110', seenMac: '02:00:00:00:00:99', seenAt: 'node-1' },
    { timeoutMs },
  );
  await Promise.all(
    Array.from({ length: podsOfBig }, (_, index) =>
      allocate(connection, { name: `big-${index}`, provider: 'big.default', subnet: 'big', count: attachments }),
    ),
  );
}

interface PodOfTest {
  readonly name: string;
  readonly provider: string;
  readonly subnet: string;
  /** The number of its attachments. */
  readonly count?: number;
}

export function allocate(connection: Connection, { name, provider, subnet, count = 1 }: PodOfTest): Promise<unknown> {
  const pod = { namespace: 'shop', name, uid: `uid-of-${name}`, node: 'node-1' };
  const request: MessageInput<AllocateRequest> = {
    pod,
    attachments: Array.from({ length: count }, (_, ordinal) => ({ provider, ordinal, subnets: [subnet] })),
  };
  return call(connection, IpamService.allocate, request, { timeoutMs });
}

const bind = (connection: Connection, name: string): Promise<unknown> =>
  call(
    connection,
    IpamService.bind,
    {
      namespace: 'shop',
      pod: name,
      podUid: `uid-of-${name}`,
      provider: 'lan.default',
      containerId: name.padEnd(64, '0'),
      interface: 'net1',
      node: 'node-1',
      bootId: 'boot-1',
    },
    { timeoutMs },
  );

export const release = (connection: Connection, name: string): Promise<unknown> =>
  call(
    connection,
    IpamService.release,
    { namespace: 'shop', pod: name, podUid: `uid-of-${name}`, cause: 'RELEASE_CAUSE_POD_DELETED' },
    { timeoutMs },
  );
