/**
 * Parses the network selections of a Pod: the annotations that Multus reads, in Multus' grammar.
 *
 * A value that contains `[`, `{` or `"` is a JSON array of objects. Any other value is a list of
 * `[namespace/]name[@interface]`, separated by commas. The default network comes first.
 */
import * as z from 'zod';
import { errorMessage } from '../../../../../lib/errors.ts';
import { goFields } from '../../../../../lib/go-fields.ts';
import { isDnsSubdomain } from '../../../../../lib/kubernetes/ip-object-name.ts';
import { isAddress } from '../../../../../lib/net/ip.ts';
import {
  defaultNetworkAnnotation,
  networksAnnotation,
  networksAnnotationOf,
  type Pod,
} from '../../../kubernetes/objects/pod.ts';
import { limitExceeded, podLimits, textLimits, tooLong, tooMany } from '../../../limits.ts';
import { ok, problem, type Result } from '../../../../../lib/result.ts';
import { checkShape } from '../../../../../lib/check-shape.ts';

/** A network that the annotations select. */
export interface NetworkSelection {
  readonly namespace: string;
  readonly name: string;
  /** The interface name in the Pod; "" if Multus chooses it. */
  readonly interface: string;
  /** The `ips` beside the network's name, as in the annotation; they may have a prefix length. */
  readonly addresses: readonly string[];
  readonly mac: string;
  /** The gateways of the Pod's default route on this NIC, which Multus sets. */
  readonly defaultRoute?: readonly string[];
  /** The IPAMClaim in the Pod's namespace whose addresses the NIC uses. */
  readonly ipamClaim?: string;
  /** Whether this is the Pod's main NIC. */
  readonly isMain: boolean;
}

/** The name that the container runtime gives to every main NIC. */
const mainInterface = 'eth0';
/** The maximum length of a list's element: namespace, name and interface. */
const elementMaxLength = textLimits.namespaceLength + textLimits.nameLength + 64;
const part = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Identifies a selection's NetworkAttachmentDefinition: "namespace/name". */
export const networkKey = ({ namespace, name }: Pick<NetworkSelection, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Parses the networks of a Pod, in the order in which Multus attaches them. */
export function parseNetworkSelections(pod: Pick<Pod, 'namespace' | 'annotations'>): Result<NetworkSelection[]> {
  const main = parseAnnotation(
    [defaultNetworkAnnotation, pod.annotations[defaultNetworkAnnotation]?.trim() ?? ''],
    pod,
  );
  if (!main.ok) return main;
  const others = parseAnnotation(networksAnnotationOf(pod), pod);
  if (!others.ok) return others;
  const first = main.value.map((selection) => ({
    ...selection,
    isMain: true,
    interface: selection.interface || mainInterface,
  }));
  const all = [...first, ...others.value];
  if (all.length > podLimits.attachments) return tooManyNetworks(all.length);
  const claims = all.flatMap(({ ipamClaim }) => ipamClaim ?? []);
  const duplicate = claims.find((claim, index) => claims.indexOf(claim) !== index);
  return duplicate === undefined ? rejectDuplicateInterfaces(all) : problem(duplicateIpamClaim(duplicate));
}

const duplicateIpamClaim = (claim: string): string =>
  `annotation ${networksAnnotation}: ipam-claim-reference ${claim} is named twice: give each NIC a claim of its own`;

function tooManyNetworks(has: number): Result<never> {
  const unit = `networks (with that of ${defaultNetworkAnnotation})`;
  const remedy = 'remove some, or spread them over several Pods';
  return problem(limitExceeded(`annotation ${networksAnnotation}`, { has, most: podLimits.attachments, unit, remedy }));
}

/** Rejects two NICs with one name: Multus would fail at the second. */
function rejectDuplicateInterfaces(all: NetworkSelection[]): Result<NetworkSelection[]> {
  const names = new Set<string>();
  const isDuplicate = ({ interface: name }: NetworkSelection): boolean =>
    name !== '' && names.size === names.add(name).size;
  const duplicate = all.find(isDuplicate)?.interface;
  return duplicate === undefined
    ? ok(all)
    : problem(
        `annotation ${networksAnnotation}: interface ${duplicate} is requested twice: give each NIC a name of its own`,
      );
}

function parseAnnotation(
  [key, value]: readonly [key: string, value: string],
  { namespace }: Pick<Pod, 'namespace'>,
): Result<NetworkSelection[]> {
  if (value === '') return ok([]);
  const parsed = /[[{"]/.test(value) ? parseJson(value, namespace) : parseList(value, namespace);
  return parsed.ok ? parsed : problem(`annotation ${key}: ${parsed.problem}`);
}

function parseList(value: string, podNamespace: string): Result<NetworkSelection[]> {
  const selections: NetworkSelection[] = [];
  const items = value.split(',');
  if (items.length > podLimits.attachments) return tooManyElements(items);
  for (const item of items) {
    const element = parseElement(item.trim(), podNamespace);
    if (!element.ok) return element;
    selections.push(element.value);
  }
  return ok(selections);
}

function tooManyElements(elements: readonly unknown[]): Result<never> {
  return problem(tooMany('it', elements, { most: podLimits.attachments, unit: 'networks' }) ?? '');
}

function parseElement(element: string, podNamespace: string): Result<NetworkSelection> {
  const long = tooLong('an element', element, elementMaxLength);
  if (long !== undefined) return problem(long);
  const slashed = element.split('/');
  if (slashed.length > 2) return problem(`Invalid network object (failed at '/') in ${JSON.stringify(element)}`);
  const [name = '', interfaceName = '', ...more] = (slashed.at(-1) ?? '').split('@').map((text) => text.trim());
  if (more.length > 0) return problem(`Invalid network object (failed at '@') in ${JSON.stringify(element)}`);
  const namespace = slashed.length === 2 ? (slashed[0] ?? '').trim() : '';
  for (const text of [namespace, name, interfaceName]) {
    if (text !== '' && !part.test(text))
      return problem(
        `${JSON.stringify(text)} in ${JSON.stringify(element)} is not a name: must be [namespace/]name[@interface], each of lower case letters, digits and inner dashes`,
      );
  }
  return toSelection({ namespace, name, interface: interfaceName }, podNamespace);
}

/** The fields to read. Other plugins read portMappings, bandwidth, cni-args, … */
const fields = {
  name: z.string(),
  namespace: z.string().optional(),
  interface: z.string().optional(),
  /** The earlier name of `interface`, before the annotation was standardized. */
  interfaceRequest: z.string().optional(),
  ips: z.array(z.string()).optional(),
  mac: z.string().optional(),
  'default-route': z.array(z.string()).optional(),
  'ipam-claim-reference': z.string().optional(),
};
const jsonElements = z.array(z.preprocess(goFields(Object.keys(fields)), z.object(fields)));

type Element = z.infer<typeof jsonElements>[number];

function parseJson(value: string, podNamespace: string): Result<NetworkSelection[]> {
  let raw: unknown;
  try {
    raw = JSON.parse(value);
  } catch (error) {
    return problem(`not valid JSON: ${errorMessage(error)}`);
  }
  if (Array.isArray(raw) && raw.length > podLimits.attachments) return tooManyElements(raw);
  const elements = checkShape(jsonElements, raw);
  if (!elements.success) return problem(`must be a JSON array of networks: ${firstIssue(elements.error)}`);
  const selections: NetworkSelection[] = [];
  for (const { interfaceRequest, ...element } of elements.data) {
    const selected = toSelection({ ...element, interface: element.interface || interfaceRequest }, podNamespace);
    if (!selected.ok) return selected;
    selections.push(selected.value);
  }
  return ok(selections);
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue
    ? `${issue.path.map((step) => `[${JSON.stringify(step)}]`).join('')} ${issue.message}`.trim()
    : 'malformed';
}

/** Returns the field of an element that is over its limit; undefined if none is. */
function limitViolation({
  name,
  namespace = '',
  interface: interfaceName = '',
  ips,
  mac = '',
  'default-route': gateways,
  'ipam-claim-reference': claim = '',
}: Element) {
  const { nameLength, namespaceLength, addressLength } = textLimits;
  const long =
    tooLong('the name of a network', name, nameLength) ??
    tooLong(`the namespace of network ${name}`, namespace, namespaceLength) ??
    tooLong(`the interface of ${name}`, interfaceName, nameLength) ??
    tooLong(`mac of ${name}`, mac, addressLength) ??
    tooLong(`ipam-claim-reference of ${name}`, claim, nameLength) ??
    tooMany(`ips of ${name}`, ips ?? [], { most: podLimits.addresses, unit: 'addresses' }) ??
    tooMany(`default-route of ${name}`, gateways ?? [], { most: podLimits.gateways, unit: 'gateways' });
  if (long !== undefined) return long;
  const texts = [...(ips ?? []), ...(gateways ?? [])];
  return texts.map((each) => tooLong(`an address of ${name}`, each, addressLength)).find((each) => each !== undefined);
}

function toSelection(element: Element, podNamespace: string): Result<NetworkSelection> {
  const { name, namespace, interface: interfaceName = '', ips, mac = '', 'default-route': gateways } = element;
  if (name === '') return problem('a network has no name');
  const violation = limitViolation(element);
  if (violation !== undefined) return problem(violation);
  const claim = element['ipam-claim-reference'] ?? '';
  if (claim !== '' && !isDnsSubdomain(claim))
    return problem(
      `ipam-claim-reference ${JSON.stringify(claim)} of ${name} is not a name: write the name of an IPAMClaim in the Pod's namespace`,
    );
  const invalidGateway = (gateways ?? []).find((gateway) => !isAddress(gateway));
  if (invalidGateway !== undefined)
    return problem(`default-route ${JSON.stringify(invalidGateway)} of ${name} is not an address`);
  if (/[\s/:]/.test(interfaceName))
    return problem(
      `interface ${JSON.stringify(interfaceName)} of ${name}: Linux allows no blank, slash or colon in it`,
    );
  if (interfaceName.length > textLimits.interfaceLength)
    return problem(
      `interface ${JSON.stringify(interfaceName)} of ${name}: Linux allows at most ${textLimits.interfaceLength} characters`,
    );
  return ok({
    namespace: namespace || podNamespace,
    name,
    interface: interfaceName,
    addresses: ips ?? [],
    mac,
    ...(gateways && { defaultRoute: gateways }),
    ...(claim !== '' && { ipamClaim: claim }),
    isMain: false,
  });
}
