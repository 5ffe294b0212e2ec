/** The Subnet macvlan, and Pods with an address of it, by a client of the allocators. */
import { type AllocateReply, IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { ReplicaClient } from './replica-client.ts';

type Client = Pick<ReplicaClient, 'call'>;

const provider = 'macvlan.default';

/** Configures the Subnet. */
export async function applyMacvlanSubnet(client: Client): Promise<void> {
  const spec = { cidrBlock: '172.17.0.0/16', gateway: '172.17.0.1', provider };
  await client.call(SubnetsService.applySubnet, { name: 'macvlan', spec });
}

/** Allocates an address of the Subnet for a Pod of this name. */
export const allocateOfMacvlan = (client: Client, name: string): Promise<AllocateReply> =>
  client.call(IpamService.allocate, {
    pod: { namespace: 'default', name, uid: `uid-${name}` },
    attachments: [{ provider, subnets: ['macvlan'] }],
  });
