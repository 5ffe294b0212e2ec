/** Whether an address is in a CIDR of a Subnet object. */
import { cidrContains } from '../../lib/net/ip.ts';
import type { KubeOvnSubnet } from '../cluster/cluster-snapshot.ts';

export const subnetContains = ({ spec }: KubeOvnSubnet, address: string): boolean =>
  spec.cidrBlock.split(',').some((cidr) => cidrContains(cidr.trim(), address));
