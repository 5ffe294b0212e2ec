/** Requests an attachment with an IPAMClaim, by `ipam-claim-reference` of a selection. Pure. */
import { isIPv4 } from 'node:net';
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../../proto/generated/ipledger.ts';
import type { IpamClaimState } from '../../cluster-view.ts';
import { clusterProblem, type PlanProblem, requestProblem } from './unserved-requests.ts';

type Request = MessageInput<AttachmentRequest>;

/** The IPAMClaim that an attachment names. */
export interface NamedIpamClaim {
  /** The IPAMClaim "namespace/name", always in the namespace of the Pod. */
  readonly key: string;
  /** The network's name in its CNI configuration, and the name of its object. */
  readonly networkNames: readonly string[];
  readonly state: IpamClaimState;
}

/** The demand of a Pod for an IPAMClaim without addresses. */
export interface IpamClaimDemand {
  /** The IPAMClaim "namespace/name". */
  readonly claim: string;
  readonly network: string;
  readonly interface: string;
  /** The Subnets that may serve the IPAMClaim, best first. */
  readonly subnets: readonly string[];
  /** The requested addresses, at most one per family; empty: any address. */
  readonly addresses: readonly string[];
  /** The requested family; "" means all families of the Subnet. */
  readonly ipFamily: string;
}

export type IpamClaimRequest =
  | { readonly request: Request }
  /** Makes the Pod wait; with a demand if the IPAMClaim can get addresses now. */
  | { readonly problem: PlanProblem; readonly demand?: IpamClaimDemand };

/** Restricts the request of an attachment to the addresses of its IPAMClaim. */
export function requestIpamClaimAddresses(
  { key, networkNames, state }: NamedIpamClaim,
  request: Request,
): IpamClaimRequest {
  const { object, reserved } = state;
  if (request.pool) return { problem: requestProblem(`IPAMClaim ${key}: ${poolUnsupported}`) };
  if (object?.deleting)
    return {
      problem: clusterProblem(`IPAMClaim ${key} is being deleted: name another one, or wait and create it again`),
    };
  if (object && !networkNames.includes(object.network)) {
    const text = `IPAMClaim ${key} is for network ${JSON.stringify(object.network)}, not for ${JSON.stringify(networkNames[0])}: name another claim`;
    return { problem: clusterProblem(text) };
  }
  if (!object || !reserved) return demandAddresses({ key, networkNames, state }, request);
  if (!request.subnets?.includes(reserved.subnet)) {
    const text = `IPAMClaim ${key} has addresses of Subnet ${reserved.subnet}, from which this network is not served: name another claim`;
    return { problem: clusterProblem(text) };
  }
  const candidates = request.candidates ?? [];
  const isRequested = ({ addresses = [] }: { readonly addresses?: readonly string[] | undefined }): boolean =>
    addresses.every((each) => reserved.addresses.includes(each));
  if (candidates.length > 0 && !candidates.some(isRequested)) {
    const text = `IPAMClaim ${key} has ${reserved.addresses.join(', ')}, and the Pod requests other addresses: remove them from the annotations, or name another claim`;
    return { problem: requestProblem(text) };
  }
  const [only, ...others] = reserved.addresses;
  // Requests only the family of the IPAMClaim's single address.
  const ownFamily = only !== undefined && others.length === 0 ? (isIPv4(only) ? 'ipv4' : 'ipv6') : '';
  return {
    request: {
      ...request,
      subnets: [reserved.subnet],
      candidates: [{ addresses: [...reserved.addresses] }],
      ipFamily: request.ipFamily || ownFamily,
      reservation: reserved.owner,
    },
  };
}

const poolUnsupported =
  'a claim takes no address of an IPPool by its name: remove ip_pool, or request an address in spec.ipRequests';

/** Makes the Pod wait until the IPAMClaim has addresses. */
function demandAddresses(
  { key, networkNames, state }: NamedIpamClaim,
  { subnets = [], candidates = [], ipFamily = '', interface: name = '' }: Request,
): IpamClaimRequest {
  if (candidates.length > 1)
    return {
      problem: requestProblem(`IPAMClaim ${key}: the Pod names ${candidates.length} sets of addresses: name one`),
    };
  const demand = {
    claim: key,
    network: networkNames[0] ?? '',
    interface: name,
    subnets: [...subnets],
    addresses: [...(candidates[0]?.addresses ?? [])],
    ipFamily,
  };
  const why = state.problem === '' ? 'the Pod waits for them' : state.problem;
  return { demand, problem: clusterProblem(`IPAMClaim ${key} has no addresses yet: ${why}`) };
}
