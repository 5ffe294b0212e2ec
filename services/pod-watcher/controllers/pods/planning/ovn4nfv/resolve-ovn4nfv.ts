/** Resolves an OVN4NFV request: an attachment for each interface, or the problems. Pure. */
import { defaultOvn4nfvNetwork, ovn4nfvProvider } from '../../../../../../lib/kubernetes/served-network.ts';
import type { MessageInput } from '../../../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../../../proto/generated/ipledger.ts';
import { ovnAnnotation } from '../../../../../../lib/ovn4nfv/annotations.ts';
import type { Ovn4nfvInterface } from '../../../../../../lib/ovn4nfv/interface.ts';
import type { Ovn4nfvRequest } from '../../../../../../lib/ovn4nfv/request.ts';
import type { ClusterView } from '../../../cluster-view.ts';
import { noConstraints, parseAddresses, parseMac } from '../../../../kubernetes/objects/annotation-values.ts';
import { networkKey, type NetworkSelection } from '../network-selections.ts';
import type { ParsedPod } from '../parse-pod.ts';
import { ok, type Result } from '../../../../../../lib/result.ts';
import {
  clusterProblem,
  type PlanProblem,
  requestProblem,
  macWithoutAddress,
  type UnservedRequest,
} from '../unserved-requests.ts';
import { resolveProviderSubnets, resolveVirtualNetwork } from '../subnet-selection.ts';

type Request = MessageInput<AttachmentRequest>;

export interface ResolvedOvn4nfv {
  /** The requests for all NICs; empty if there is a problem. */
  readonly requests: readonly Request[];
  readonly problems: readonly PlanProblem[];
  readonly unserved: readonly UnservedRequest[];
  readonly topics: readonly string[];
}

const nothing: ResolvedOvn4nfv = { requests: [], problems: [], unserved: [], topics: [] };

/**
 * Resolves the request of a Pod. A Pod without a request that selects a network of an OVN4NFV type
 * requests one NIC of the default network.
 */
export function resolveOvn4nfv(
  { pod: { namespace }, ovn4nfv: request, attachments, networksKey }: ParsedPod,
  clusterView: ClusterView,
): ResolvedOvn4nfv {
  if (request === 'held') return nothing;
  const selections = attachments.map(({ selection }) => selection);
  const selected = selections.filter((each) => clusterView.network(networkKey(each))?.kind === 'ovn4nfv');
  const [only, another] = selected;
  if (request && request.form !== 'ovn') return resolveRequest(namespace, request, clusterView);
  if (another) return { ...nothing, problems: [requestProblem(severalSelections(networksKey))] };
  if (request) return resolveRequest(namespace, nameInterface(request, only), clusterView);
  return only ? resolveRequest(namespace, requestOfSelection(only), clusterView) : nothing;
}

const severalSelections = (networksKey: string): string =>
  `annotation ${networksKey} selects several networks of an OVN4NFV type, and the Pod names no interfaces: select one of them, or name the interfaces in annotation ovnNetwork`;

/** Names the NIC of the form `ovn`, which names no interface, as Multus does. */
const nameInterface = (request: Ovn4nfvRequest, selection: NetworkSelection | undefined): Ovn4nfvRequest =>
  selection
    ? { ...request, interfaces: request.interfaces.map((nic) => ({ ...nic, interface: selection.interface })) }
    : request;

const requestOfSelection = ({ interface: name, addresses, mac }: NetworkSelection): Ovn4nfvRequest => ({
  form: 'ovn',
  key: ovnAnnotation,
  interfaces: [
    { network: defaultOvn4nfvNetwork, interface: name, addresses, mac, isDefaultGateway: false, gateways: [] },
  ],
  routes: [],
});

function resolveRequest(namespace: string, request: Ovn4nfvRequest, clusterView: ClusterView): ResolvedOvn4nfv {
  const gatewayIndex = request.interfaces.findIndex(({ isDefaultGateway }) => isDefaultGateway);
  const resolved = request.interfaces.map((nic, ordinal) =>
    resolveInterface(namespace, { request, nic, ordinal, hasDefaultRoute: ordinal === gatewayIndex }, clusterView),
  );
  const problems = resolved.flatMap(({ problem }) => problem ?? []);
  return {
    requests: problems.length > 0 ? [] : resolved.flatMap((each) => each.request ?? []),
    problems,
    unserved: resolved.flatMap(({ unserved }) => unserved ?? []),
    topics: [`provider:${ovn4nfvProvider}`, ...request.interfaces.map(({ network }) => `subnet:${network}`)],
  };
}

interface RequestedInterface {
  readonly request: Ovn4nfvRequest;
  readonly nic: Ovn4nfvInterface;
  readonly ordinal: number;
  /** Whether this is the first NIC that requests the default route. */
  readonly hasDefaultRoute: boolean;
}

interface ResolvedInterface {
  readonly request?: Request;
  readonly problem?: PlanProblem;
  readonly unserved?: UnservedRequest;
}

function resolveInterface(
  namespace: string,
  requested: RequestedInterface,
  clusterView: ClusterView,
): ResolvedInterface {
  const { request, nic, ordinal } = requested;
  const where = `annotation ${request.key}: network ${nic.network}`;
  const subnets = resolveSubnets(nic.network, namespace, clusterView);
  if (!subnets.ok) return { problem: clusterProblem(`${where}: ${subnets.problem}`) };
  const addresses = readAddresses(nic);
  const mac = nic.mac === '' ? ok('') : parseMac(nic.mac, 'mac_address');
  const invalid = [addresses, mac].find((each) => !each.ok);
  if (invalid && !invalid.ok) return { problem: requestProblem(`${where}: ${invalid.problem}`) };
  if (!addresses.ok || !mac.ok) return {};
  const isMacIgnored = mac.value !== '' && addresses.value.length === 0;
  return {
    request: {
      provider: ovn4nfvProvider,
      ordinal,
      interface: nic.interface,
      subnets: subnets.value,
      candidates: addresses.value,
      pool: '',
      mac: isMacIgnored ? '' : mac.value,
      ipFamily: '',
      ...readRoutes(requested),
    },
    ...(isMacIgnored && { unserved: macWithoutAddress(where) }),
  };
}

/** Returns the Subnets for a network: the one that it names, or the default network's. */
function resolveSubnets(network: string, namespace: string, clusterView: ClusterView): Result<readonly string[]> {
  if (network === defaultOvn4nfvNetwork && !clusterView.subnets.exists(network))
    return resolveProviderSubnets(ovn4nfvProvider, namespace, clusterView);
  return resolveVirtualNetwork(network, namespace, clusterView);
}

function readAddresses({ addresses }: Ovn4nfvInterface): Result<Request['candidates'] & object> {
  if (addresses.length === 0) return ok([]);
  const source = { key: 'ip_address', label: 'ip_address', allowsPrefixLength: true };
  const set = parseAddresses(addresses, source, noConstraints);
  return set.ok ? ok([set.value]) : set;
}

/** Reads a NIC's routes. The form `ovn` leaves the default route to its interface's rule. */
function readRoutes({ request, nic, hasDefaultRoute }: RequestedInterface): Pick<Request, 'routes' | 'defaultRoute'> {
  const own = request.routes.filter(({ dev }) => dev === nic.interface).map(({ dst, gw }) => ({ dst, gw }));
  if (request.form === 'ovn') return { routes: own, defaultRoute: undefined };
  // Replaces the gateway of the Subnet with the NIC's own gateways.
  const defaults = hasDefaultRoute ? nic.gateways.map((gw) => ({ dst: '', gw })) : [];
  return { routes: [...own, ...defaults], defaultRoute: hasDefaultRoute && defaults.length === 0 };
}
