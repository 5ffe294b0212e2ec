/** Parses one interface of an OVN4NFV request. */
import { foldCase } from '../go-fields.ts';
import { isDnsSubdomain } from '../kubernetes/ip-object-name.ts';
import { tooLong, truncate } from '../kubernetes/limit-messages.ts';
import type { UntypedJson } from '../kubernetes/untyped-json.ts';
import { isAddress } from '../net/ip.ts';
import { defaultOvn4nfvNetwork } from '../kubernetes/served-network.ts';
import { ok, problem, type Result } from '../result.ts';

/** The limits of an OVN4NFV request, in characters. The pod-watcher limits whole annotations. */
export const ovn4nfvLimits = {
  interfaces: 10,
  /** The same limit as the allocator's for one attachment. */
  routes: 64,
  /** The limit of Kubernetes. */
  nameLength: 253,
  /** Short, because the node's link name of at most 15 characters contains it. */
  interfaceLength: 11,
  /** An address with an optional prefix length, or a MAC. */
  addressLength: 64,
} as const;

export interface Ovn4nfvInterface {
  /** The name of the Subnet; `defaultOvn4nfvNetwork` if the request names none. */
  readonly network: string;
  /** The name of the interface in the Pod; "" if CNI ADD names it. */
  readonly interface: string;
  /** The requested addresses, possibly with prefix lengths; empty for any address. */
  readonly addresses: readonly string[];
  /** The requested MAC; "" for any MAC. */
  readonly mac: string;
  /** Whether the interface requests the Pod's default route. */
  readonly isDefaultGateway: boolean;
  /** The requested gateways; empty for the gateways of the Subnet. */
  readonly gateways: readonly string[];
}

/** The link names that the agent can create. data-path/host-link.ts has the same rule. */
const interfaceName = /^(?!(?:all|default|lo)$)[A-Za-z0-9][A-Za-z0-9_.-]*$/;

/** Returns the fields in lower case, without nulls, because Go's decoders ignore the case. */
export const lowerCaseKeys = (json: UntypedJson): UntypedJson =>
  Object.fromEntries(Object.entries(json).flatMap(([key, value]) => (value === null ? [] : [[foldCase(key), value]])));

/** Reads texts, and keeps the first problem. An absent field reads as "". */
class Fields {
  problem: string | undefined;
  readonly #json: UntypedJson;

  constructor(json: UntypedJson) {
    this.#json = json;
  }

  /** The value under one of several names. A request may use only one of them. */
  text(names: readonly string[], most: number): string {
    const present = names.filter((name) => this.has(name));
    const [name, other] = present;
    if (name === undefined) return '';
    const value = this.#json[name];
    if (other !== undefined) this.problem ??= `${name} and ${other} are the same field: remove one`;
    if (typeof value !== 'string') {
      this.problem ??= `${name} must be a text, and is ${truncate(JSON.stringify(value))}`;
      return '';
    }
    this.problem ??= tooLong(name, value, most);
    return this.problem === undefined ? value.trim() : '';
  }

  has(name: string): boolean {
    return this.#json[name] !== undefined;
  }

  /** "true" or "false" as text or JSON; false if absent. */
  flag(name: string): boolean {
    const value = this.#json[name] ?? 'false';
    if (!['true', 'false', true, false].includes(value as string))
      this.problem ??= `${name} must be "true" or "false", and is ${truncate(JSON.stringify(value))}`;
    return value === 'true' || value === true;
  }
}

const { nameLength, addressLength } = ovn4nfvLimits;
/** The length of one address of each family. */
const addressesLength = 2 * addressLength;

/**
 * Parses an element of `ovnNetwork`, or of the interfaces of `nfn-network`.
 * @param json with keys in lower case
 */
export function parseInterface(json: UntypedJson, { isNfn }: { readonly isNfn: boolean }): Result<Ovn4nfvInterface> {
  const fields = new Fields(json);
  const network = fields.text(['name'], nameLength);
  const name = fields.text(['interface'], nameLength);
  // Nodus ignores these names. Without an error, the Pod would get other addresses than it
  // requests.
  for (const ignored of isNfn ? ['ip_address', 'mac_address'] : [])
    if (fields.has(ignored)) fields.problem ??= `${ignored} is not a field of this form: write ${camelCase(ignored)}`;
  const nic = {
    network,
    interface: name === '*' ? '' : name,
    addresses: split(fields.text(['ip_address', 'ipaddress'], addressesLength)),
    mac: fields.text(['mac_address', 'macaddress'], addressLength),
    isDefaultGateway: fields.flag('defaultgateway'),
    gateways: split(fields.text(['gwipaddress'], addressesLength)),
  };
  const netType = fields.text(['nettype'], nameLength) || 'virtual';
  const fault = fields.problem ?? nameProblem(nic) ?? netTypeProblem(nic, netType) ?? gatewayProblem(nic);
  return fault === undefined ? ok(nic) : problem(fault);
}

/**
 * Parses the annotation `ovn`: one NIC of the default network, which CNI ADD names.
 * @param json with keys in lower case
 */
export function parseSingleInterface(json: UntypedJson): Result<Ovn4nfvInterface> {
  const fields = new Fields(json);
  const nic = {
    network: defaultOvn4nfvNetwork,
    interface: '',
    addresses: split(fields.text(['ip_address'], addressesLength)),
    mac: fields.text(['mac_address'], addressLength),
    isDefaultGateway: false,
    gateways: split(fields.text(['gateway_ip'], addressesLength)),
  };
  const fault = fields.problem ?? gatewayProblem(nic);
  return fault === undefined ? ok(nic) : problem(fault);
}

const camelCase = (name: string): string => name.replace(/_(.)/, (_, letter: string) => letter.toUpperCase());

const split = (text: string): string[] => (text === '' ? [] : text.split(',').map((each) => each.trim()));

function nameProblem({ network, interface: name }: Ovn4nfvInterface): string | undefined {
  if (network === '') return 'it has no name: write the name of a Subnet';
  if (!isDnsSubdomain(network)) return `name ${JSON.stringify(network)} is not the name of a Subnet`;
  if (name === '')
    return network === defaultOvn4nfvNetwork
      ? undefined
      : `network ${network} has no interface: name the NIC, as in net0`;
  return interfaceName.test(name) && name.length <= ovn4nfvLimits.interfaceLength
    ? undefined
    : `interface ${truncate(JSON.stringify(name))} of network ${network} is not valid: use at most ${ovn4nfvLimits.interfaceLength} letters, digits, dots, dashes and underscores, such as net0`;
}

function netTypeProblem(nic: Ovn4nfvInterface, netType: string): string | undefined {
  if (netType === 'virtual') return undefined;
  if (netType !== 'provider')
    return `netType ${truncate(JSON.stringify(netType))} of network ${nic.network} is not valid: must be virtual or provider`;
  if (nic.addresses.length === 0)
    return `network ${nic.network} has netType provider and no ipAddress: a provider network needs one`;
  return nic.isDefaultGateway
    ? `network ${nic.network} has netType provider and defaultGateway: a provider network has no default gateway, remove it`
    : undefined;
}

function gatewayProblem({ network, gateways }: Ovn4nfvInterface): string | undefined {
  const invalid = gateways.find((gateway) => !isAddress(gateway));
  return invalid === undefined
    ? undefined
    : `the gateway ${JSON.stringify(invalid)} of network ${network} is not an address`;
}
