/**
 * Parses the annotations with which a Pod requests NICs in the way of OVN4NFV: `ovnNetwork`,
 * `nfn-network`, or `ovn` alone. Addresses and MACs stay texts; the pod-watcher validates them
 * later.
 *
 * Source: the document "Networking Plugin" (ONAP), ovn4nfv-k8s-plugin and Nodus. docs/ovn4nfv.md
 * lists the differences.
 */
import { errorMessage } from '../errors.ts';
import { limitExceeded, truncate, tooMany } from '../kubernetes/limit-messages.ts';
import { asText, type UntypedJson, asRecord } from '../kubernetes/untyped-json.ts';
import {
  type Annotated,
  nfnNetworkAnnotation,
  ovnAnnotation,
  ovnNetworkAnnotation,
  ovnRoutesAnnotation,
} from './annotations.ts';
import {
  lowerCaseKeys,
  type Ovn4nfvInterface,
  parseInterface,
  parseSingleInterface,
  ovn4nfvLimits,
} from './interface.ts';
import { isAddress, isCidr } from '../net/ip.ts';
import { ok, problem, type Result } from '../result.ts';

/** The form of a request. The answer has the same form. */
export type Ovn4nfvForm = 'ovnNetwork' | 'nfn-network' | 'ovn';

/** A request. Either each interface gets a NIC, or none does. */
export interface Ovn4nfvRequest {
  readonly form: Ovn4nfvForm;
  /** The key of the annotation. */
  readonly key: string;
  /** At least one interface. The ordinal of an attachment is the place of its interface. */
  readonly interfaces: readonly Ovn4nfvInterface[];
  readonly routes: readonly Ovn4nfvRoute[];
}

/** Returns the request of a Pod; undefined for none. If there is a list, `ovn` is ignored. */
export function parseOvn4nfvRequest({ annotations }: Annotated): Result<Ovn4nfvRequest | undefined> {
  const hasList = annotations[ovnNetworkAnnotation] !== undefined;
  const hasObject = annotations[nfnNetworkAnnotation] !== undefined;
  if (hasList && hasObject)
    return problem(
      `annotations ${ovnNetworkAnnotation} and ${nfnNetworkAnnotation} both request NICs: remove one of them`,
    );
  if (hasList) return parseForm('ovnNetwork', ovnNetworkAnnotation, annotations);
  if (hasObject) return parseForm('nfn-network', nfnNetworkAnnotation, annotations);
  if (annotations[ovnAnnotation] === undefined) return ok(undefined);
  return parseForm('ovn', ovnAnnotation, annotations);
}

function parseForm(form: Ovn4nfvForm, key: string, annotations: Annotated['annotations']): Result<Ovn4nfvRequest> {
  const json = parseJson(annotations[key] ?? '');
  const interfaces = json.ok ? interfaceParsers[form](json.value) : json;
  if (!interfaces.ok) return problem(`annotation ${key}: ${interfaces.problem}`);
  const duplicate = duplicateName(interfaces.value);
  if (duplicate !== undefined) return problem(`annotation ${key}: ${duplicate}`);
  // The form `ovn` names no interface, so no route can belong to it.
  const routes = form === 'ovn' ? ok([]) : parseOvn4nfvRoutes({ annotations }, interfaces.value);
  return routes.ok ? ok({ form, key, interfaces: interfaces.value, routes: routes.value }) : routes;
}

function parseJson(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    return problem(`not valid JSON: ${errorMessage(error)}`);
  }
}

const interfaceParsers: Readonly<Record<Ovn4nfvForm, (json: unknown) => Result<Ovn4nfvInterface[]>>> = {
  ovnNetwork: (json) => parseInterfaces(json, 'it'),
  'nfn-network': parseNfnNetwork,
  ovn: (json) => {
    if (!isObject(json)) return problem('must be a JSON object {"ip_address": "…", "mac_address": "…"}');
    const nic = parseSingleInterface(lowerCaseKeys(json));
    return nic.ok ? ok([nic.value]) : nic;
  },
};

function parseNfnNetwork(json: unknown): Result<Ovn4nfvInterface[]> {
  if (!isObject(json)) return problem('must be a JSON object {"type": "ovn4nfv", "interface": […]}');
  const fields = lowerCaseKeys(json);
  if (asText(fields['type']) !== 'ovn4nfv')
    return problem(`type ${truncate(JSON.stringify(fields['type'] ?? ''))} is not served: write "type": "ovn4nfv"`);
  return parseInterfaces(fields['interface'], 'interface', { isNfn: true });
}

/** Parses each interface alone: a value of one interface is no default for the next. */
function parseInterfaces(json: unknown, what: string, { isNfn = false } = {}): Result<Ovn4nfvInterface[]> {
  if (!Array.isArray(json)) return problem(`${what} must be a JSON array of {"name": "…", "interface": "…"}`);
  if (json.length === 0) return problem(`${what} has no interface: name one, or remove the annotation`);
  const { interfaces: most } = ovn4nfvLimits;
  if (json.length > most)
    return problem(
      limitExceeded(what, { has: json.length, most, unit: 'interfaces', remedy: 'remove some, or use several Pods' }),
    );
  const interfaces: Ovn4nfvInterface[] = [];
  for (const [index, element] of json.entries()) {
    if (!isObject(element)) return problem(`element ${index} of ${what} must be an object`);
    const nic = parseInterface(lowerCaseKeys(element), { isNfn });
    if (!nic.ok) return problem(`element ${index}: ${nic.problem}`);
    interfaces.push(nic.value);
  }
  return ok(interfaces);
}

const isObject = (json: unknown): json is UntypedJson =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Finds a name that two NICs share, or two NICs without a name. */
function duplicateName(interfaces: readonly Ovn4nfvInterface[]): string | undefined {
  const names = interfaces.map(({ interface: name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return undefined;
  return duplicate === ''
    ? 'several elements have no interface: name them, and leave out the name of one at most'
    : `interface ${duplicate} is requested twice: give each NIC a name of its own`;
}

interface Ovn4nfvRoute {
  readonly dst: string;
  readonly gw: string;
  /** The interface of the request that gets the route. */
  readonly dev: string;
}

/**
 * Parses the annotation `ovnNetworkRoutes`: a JSON array of `{"dst": "<cidr>", "gw": "<address>",
 * "dev": "<interface>"}`. A route needs all three fields. Its interface must be part of the
 * request.
 */
function parseOvn4nfvRoutes(
  { annotations }: Annotated,
  interfaces: readonly Ovn4nfvInterface[],
): Result<Ovn4nfvRoute[]> {
  const text = annotations[ovnRoutesAnnotation]?.trim() ?? '';
  if (text === '') return ok([]);
  const routes = parseRoutes(text, new Set(interfaces.map(({ interface: name }) => name)));
  return routes.ok ? routes : problem(`annotation ${ovnRoutesAnnotation}: ${routes.problem}`);
}

function parseRoutes(text: string, names: ReadonlySet<string>): Result<Ovn4nfvRoute[]> {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (!Array.isArray(json)) return problem('must be a JSON array of {"dst": "…", "gw": "…", "dev": "…"}');
  const many = tooMany('it', json, { most: ovn4nfvLimits.routes, unit: 'routes' });
  if (many !== undefined) return problem(many);
  const routes = json.map((each) => {
    const { dst, gw, dev } = asRecord(each);
    return { dst: asText(dst), gw: asText(gw), dev: asText(dev) };
  });
  const fault = routes.map((route, index) => routeProblem(route, index, names)).find((each) => each !== undefined);
  return fault === undefined ? ok(routes) : problem(fault);
}

function routeProblem({ dst, gw, dev }: Ovn4nfvRoute, index: number, names: ReadonlySet<string>): string | undefined {
  const quoted = (text: string): string => truncate(JSON.stringify(text));
  if (!isCidr(dst)) return `dst ${quoted(dst)} of route ${index} is not a CIDR`;
  if (!isAddress(gw)) return `gw ${quoted(gw)} of route ${index} is not an address`;
  if (dev === '' || !names.has(dev)) return `dev ${quoted(dev)} of route ${index} is not an interface of the request`;
  return undefined;
}
