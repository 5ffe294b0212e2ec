/**
 * Which networks a Pod asks to be attached to: the annotations that Multus reads, in Multus' own grammar.
 *
 * An annotation that holds any of `[`, `{` or `"` is a JSON array of objects; else it is a comma list of
 * `[namespace/]name[@interface]`. The default network comes first.
 */
import { z } from 'zod';
import { isAddress } from '../../../lib/ip.ts';
import { defaultNetworkAnnotation, networksAnnotation, type Pod } from '../kubernetes/objects.ts';
import { overLimit, podLimits, textLimits, tooLong, tooMany } from '../limits.ts';
import { ok, problem, type Result } from './result.ts';

/** One element of the annotations. */
export interface Selection {
  readonly namespace: string;
  readonly name: string;
  /** Name inside the Pod; "" when Multus numbers it. */
  readonly interface: string;
  /** Addresses asked for beside the network's name, as they are written: perhaps with a prefix length. */
  readonly addresses: readonly string[];
  readonly mac: string;
  /** Gateways through which Multus sets the Pod's default route on this NIC, once it is attached. */
  readonly defaultRoute?: readonly string[];
  /** Whether this is the Pod's main NIC. */
  readonly main: boolean;
}

/** The main NIC's name is the container runtime's choice, and it is always this one. */
const mainInterface = 'eth0';
/** Of a list's element: namespace, name and interface. */
const elementMaxLength = textLimits.namespaceLength + textLimits.nameLength + 64;
const part = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The networks of a Pod, in the order in which Multus attaches them. */
export function selections(pod: Pick<Pod, 'namespace' | 'annotations'>): Result<Selection[]> {
  const main = parse(defaultNetworkAnnotation, pod);
  if (!main.ok) return main;
  const others = parse(networksAnnotation, pod);
  if (!others.ok) return others;
  const first = main.value.map((selection) => ({
    ...selection,
    main: true,
    interface: selection.interface || mainInterface,
  }));
  const all = [...first, ...others.value];
  return all.length > podLimits.attachments ? tooManyNetworks(all.length) : distinct(all);
}

function tooManyNetworks(has: number): Result<never> {
  const unit = `networks (with that of ${defaultNetworkAnnotation})`;
  const remedy = 'remove some, or spread them over several Pods';
  return problem(overLimit(`annotation ${networksAnnotation}`, { has, most: podLimits.attachments, unit, remedy }));
}

/** Two NICs of one name cannot be: Multus would fail at the second, when the first has been made. */
function distinct(all: Selection[]): Result<Selection[]> {
  const names = new Set<string>();
  const isTwice = ({ interface: name }: Selection): boolean => name !== '' && names.size === names.add(name).size;
  const twice = all.find(isTwice)?.interface;
  return twice === undefined
    ? ok(all)
    : problem(
        `annotation ${networksAnnotation}: interface ${twice} is asked for twice: give each NIC a name of its own`,
      );
}

function parse(key: string, { namespace, annotations }: Pick<Pod, 'namespace' | 'annotations'>): Result<Selection[]> {
  const value = annotations[key]?.trim() ?? '';
  if (value === '') return ok([]);
  const parsed = /[[{"]/.test(value) ? parseJson(value, namespace) : parseList(value, namespace);
  return parsed.ok ? parsed : problem(`annotation ${key}: ${parsed.problem}`);
}

function parseList(value: string, podNamespace: string): Result<Selection[]> {
  const found: Selection[] = [];
  const items = value.split(',');
  if (items.length > podLimits.attachments) return tooMuch(items);
  for (const item of items) {
    const element = parseElement(item.trim(), podNamespace);
    if (!element.ok) return element;
    found.push(element.value);
  }
  return ok(found);
}

function tooMuch(elements: readonly unknown[]): Result<never> {
  return problem(tooMany('it', elements, { most: podLimits.attachments, unit: 'networks' }) ?? '');
}

function parseElement(element: string, podNamespace: string): Result<Selection> {
  const long = tooLong('an element', element, elementMaxLength);
  if (long !== undefined) return problem(long);
  const slashed = element.split('/');
  if (slashed.length > 2) return problem(`Invalid network object (failed at '/') in ${JSON.stringify(element)}`);
  const [name = '', interfaceName, ...more] = (slashed.at(-1) ?? '').split('@').map((text) => text.trim());
  if (more.length > 0) return problem(`Invalid network object (failed at '@') in ${JSON.stringify(element)}`);
  const namespace = slashed.length === 2 ? (slashed[0] ?? '').trim() : '';
  for (const text of [namespace, name, interfaceName ?? '']) {
    if (text !== '' && !part.test(text))
      return problem(
        `${JSON.stringify(text)} in ${JSON.stringify(element)} is no name: want [namespace/]name[@interface], each of lower case letters, digits and inner dashes`,
      );
  }
  return selection({ namespace, name, interface: interfaceName }, podNamespace);
}

/** What others read of an element (portMappings, bandwidth, cni-args, …) is left to them. */
const jsonElements = z.array(
  z.object({
    name: z.string(),
    namespace: z.string().optional(),
    interface: z.string().optional(),
    ips: z.array(z.string()).nullable().optional(),
    mac: z.string().optional(),
    'default-route': z.array(z.string()).nullable().optional(),
  }),
);

type Element = z.infer<typeof jsonElements>[number];

function parseJson(value: string, podNamespace: string): Result<Selection[]> {
  let raw: unknown;
  try {
    raw = JSON.parse(value);
  } catch (error) {
    return problem(`no valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (Array.isArray(raw) && raw.length > podLimits.attachments) return tooMuch(raw);
  const elements = jsonElements.safeParse(raw);
  if (!elements.success) return problem(`want a JSON array of networks: ${firstIssue(elements.error)}`);
  const found: Selection[] = [];
  for (const element of elements.data) {
    const selected = selection(element, podNamespace);
    if (!selected.ok) return selected;
    found.push(selected.value);
  }
  return ok(found);
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue
    ? `${issue.path.map((step) => `[${JSON.stringify(step)}]`).join('')} ${issue.message}`.trim()
    : 'malformed';
}

/** What in an element is over its limit; undefined where nothing is. */
function overIn({
  name,
  namespace = '',
  interface: interfaceName = '',
  ips,
  mac = '',
  'default-route': gateways,
}: Element) {
  const { nameLength, namespaceLength, addressLength } = textLimits;
  const long =
    tooLong('the name of a network', name, nameLength) ??
    tooLong(`the namespace of network ${name}`, namespace, namespaceLength) ??
    tooLong(`the interface of ${name}`, interfaceName, nameLength) ??
    tooLong(`mac of ${name}`, mac, addressLength) ??
    tooMany(`ips of ${name}`, ips ?? [], { most: podLimits.addresses, unit: 'addresses' }) ??
    tooMany(`default-route of ${name}`, gateways ?? [], { most: podLimits.gateways, unit: 'gateways' });
  if (long !== undefined) return long;
  const texts = [...(ips ?? []), ...(gateways ?? [])];
  return texts.map((each) => tooLong(`an address of ${name}`, each, addressLength)).find((each) => each !== undefined);
}

function selection(element: Element, podNamespace: string): Result<Selection> {
  const { name, namespace, interface: interfaceName = '', ips, mac = '', 'default-route': gateways } = element;
  if (name === '') return problem('a network without name');
  const over = overIn(element);
  if (over !== undefined) return problem(over);
  const wrong = (gateways ?? []).find((gateway) => !isAddress(gateway));
  if (wrong !== undefined) return problem(`default-route ${JSON.stringify(wrong)} of ${name} is not an address`);
  if (/[\s/:]/.test(interfaceName))
    return problem(`interface ${JSON.stringify(interfaceName)} of ${name}: Linux takes no blank, slash or colon in it`);
  if (interfaceName.length > textLimits.interfaceLength)
    return problem(
      `interface ${JSON.stringify(interfaceName)} of ${name}: Linux takes at most ${textLimits.interfaceLength} characters`,
    );
  return ok({
    namespace: namespace || podNamespace,
    name,
    interface: interfaceName,
    addresses: ips ?? [],
    mac,
    ...(gateways && { defaultRoute: gateways }),
    main: false,
  });
}
