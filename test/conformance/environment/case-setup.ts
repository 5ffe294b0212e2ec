/**
 * Parses the `given` of a case to the objects to create: Subnets, networks, pools, and the
 * annotations of Pods. The defaults are those of Kube-OVN's documents: network `macvlan` in
 * namespace default, with Subnet `macvlan`, 172.17.0.0/16.
 */
import { parseAddress } from '../../../ledger/domain/addresses/address.ts';
import { parseNetworkSelections } from '../../../services/pod-watcher/controllers/pods/planning/network-selections.ts';
import { networksAnnotation } from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { UnsupportedCaseError, unsupportedError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, isFields, type Json, listOf, textFieldsOf, textOf } from '../../harness/json.ts';
import { type Owner, parseOwner } from './pod-owner.ts';

export interface SubnetGiven {
  readonly name: string;
  readonly spec: Fields;
}

export interface NetworkGiven {
  readonly namespace: string;
  readonly name: string;
  /** The CNI configuration as text; undefined if the object does not exist. */
  readonly config: string | undefined;
}

export interface CaseSetup {
  readonly subnets: readonly SubnetGiven[];
  readonly networks: readonly NetworkGiven[];
  readonly pools: readonly { readonly name: string; readonly spec: Fields }[];
  /** The namespace of the Pods. */
  readonly namespace: string;
  /** The annotations of the namespace; undefined if it is not changed. */
  readonly namespaceAnnotations: Readonly<Record<string, string>> | undefined;
  /** The annotations of each Pod. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner: Owner;
  /** "namespace/pod" by address, by Subnet. */
  readonly inUse: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Subnets without free addresses. */
  readonly exhausted: readonly string[];
  readonly restartPolicy: string;
}

/** The keys of a `given` that `parseCaseSetup` supports. */
const setupKeys = [
  'subnet',
  'subnets',
  'Subnet',
  'subnet cidr',
  'subnet provider',
  'NAD',
  'ippools',
  'annotations',
  'pod annotations',
  'namespace annotations',
  'pod',
  'pod namespace',
  'owner',
  'networks',
  'in use',
  'status',
  'static ip',
  'restartPolicy',
];

export interface AttachmentSelection {
  /**
   * The networks annotation of the Pods, if the case has it outside of `given`; '' for Pods without
   * networks.
   */
  readonly networks?: string;
  /** Further annotations of the Pods. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Parses a `given`. @throws UnsupportedCaseError for unknown keys */
export function parseCaseSetup(
  given: Fields,
  { networks, annotations: more = {} }: AttachmentSelection = {},
): CaseSetup {
  rejectUnknownKeys('given', given, setupKeys);
  const pod = fieldsOf(given['pod']);
  const annotations = {
    ...textFieldsOf(given['annotations']),
    ...textFieldsOf(given['pod annotations']),
    ...textFieldsOf(pod['annotations']),
    ...more,
  };
  const namespace = textOf(pod['namespace']) || textOf(given['pod namespace']) || 'default';
  const subnets = subnetsOf(given, annotations);
  const staticIp = textOf(given['static ip']);
  const selectedNetworks = networks ?? (textOf(given['networks']) || annotations[networksAnnotation]);
  const attached = selectedNetworks ?? networksAnnotationOf(annotations, subnets, given);
  const [first] = providersIn(annotations, subnets);
  const all = {
    ...annotations,
    ...(attached !== '' && { [networksAnnotation]: attached }),
    ...(staticIp !== '' && { [`${first ?? 'macvlan.default'}.kubernetes.io/ip_address`]: staticIp }),
  };
  const selected = parseNetworkSelections({ namespace, annotations: all });
  const names = selected.ok ? selected.value : [];
  return {
    namespace,
    subnets: addMissingSubnets(subnets, { given, annotations: all, names }),
    networks: networksOf(given, names, { annotations: all, subnets }),
    pools: listOf(given['ippools'])
      .map(fieldsOf)
      .map(({ name, spec, ...rest }) => ({ name: textOf(name), spec: isFields(spec) ? spec : rest })),
    namespaceAnnotations:
      given['namespace annotations'] === undefined ? undefined : textFieldsOf(given['namespace annotations']),
    annotations: all,
    owner: parseOwner(textOf(given['owner'])),
    inUse: Object.fromEntries(
      Object.entries(fieldsOf(given['in use'])).map(([name, taken]) => [name, textFieldsOf(taken)]),
    ),
    exhausted: exhaustedIn(given),
    restartPolicy: textOf(given['restartPolicy']) || 'Always',
  };
}

function exhaustedIn({ status }: Fields): string[] {
  return Object.entries(fieldsOf(status)).flatMap(([name, counts]) => {
    const { v4availableIPs: four, v6availableIPs: six, ...others } = fieldsOf(counts);
    if (Object.keys(others).length > 0 || [four, six].some((count) => count !== undefined && count !== 0))
      throw new UnsupportedCaseError(`given status of ${name}: only "none available" is supported`);
    return [name];
  });
}

function subnetsOf(given: Fields, annotations: Readonly<Record<string, string>>): SubnetGiven[] {
  const several = [...listOf(given['subnets']), given['subnet'] ?? null, given['Subnet'] ?? null].filter(isFields);
  const cidr = textOf(given['subnet cidr']);
  const provider = textOf(given['subnet provider']);
  if (several.length === 0 && (cidr !== '' || provider !== ''))
    several.push({ ...(cidr !== '' && { cidrBlock: cidr }), ...(provider !== '' && { provider }) });
  const providers = providersIn(annotations, []);
  return several.map(({ name, spec, ...rest }, index) => {
    const fields = isFields(spec) ? spec : rest;
    // A single Subnet without a provider serves the Pods' provider.
    const defaultProvider =
      several.length === 1 ? (providers[0] ?? (textOf(name) === '' ? 'macvlan.default' : 'ovn')) : 'ovn';
    const served = textOf(fields['provider']) || defaultProvider;
    const subnetName = textOf(name) || (index === 0 ? served.split('.')[0] : undefined) || `subnet-${index}`;
    return { name: subnetName, spec: { provider: served, ...fields } };
  });
}

const annotationOfProvider =
  /^(.+?)\.kubernetes\.io\/(?:ip_address|mac_address|ip_pool|ip_family|routes|default_route|logical_switch|allocated|cidr|gateway)(?:\..+)?$/;

/** The providers of attachments in annotations and Subnets, without the primary network's. */
function providersIn(annotations: Readonly<Record<string, string>>, subnets: readonly SubnetGiven[]): string[] {
  const named = Object.keys(annotations).flatMap((key) => annotationOfProvider.exec(key)?.[1] ?? []);
  const served = subnets.map(({ spec }) => textOf(spec['provider']));
  return [...new Set([...named, ...served])].filter(
    (provider) => provider.includes('.') && provider !== 'k8s.v1.cni.cncf.io',
  );
}

/** Makes a networks annotation with all requested providers. */
function networksAnnotationOf(
  annotations: Readonly<Record<string, string>>,
  subnets: readonly SubnetGiven[],
  given: Fields,
): string {
  const ofOvn = Object.keys(annotations).some((key) => key.startsWith('ovn.kubernetes.io/'));
  const providers = providersIn(annotations, ofOvn ? [] : subnets);
  if (providers.length === 0) return ofOvn || given['namespace annotations'] !== undefined ? '' : 'default/macvlan';
  return providers
    .map((provider) => {
      const [name = '', namespace = '', , interfaceName] = provider.split('.');
      return `${namespace}/${name}${interfaceName === undefined ? '' : `@${interfaceName}`}`;
    })
    .join(',');
}

interface Selected {
  readonly namespace: string;
  readonly name: string;
}

interface ConfigContext {
  readonly annotations: Readonly<Record<string, string>>;
  readonly subnets: readonly SubnetGiven[];
}

/** Returns every network that a Pod selects: as given, else with kube-ovn as IPAM. */
function networksOf(given: Fields, names: readonly Selected[], around: ConfigContext): NetworkGiven[] {
  const own = given['NAD'] === undefined ? [] : [networkGiven(given['NAD'])];
  const others = names
    .filter((each) => !own.some(({ name, namespace }) => name === each.name && namespace === each.namespace))
    .map(({ namespace, name }) => ({ namespace, name, config: defaultConfig(`${name}.${namespace}`, around) }));
  const distinct = new Map([...own, ...others].map((network) => [`${network.namespace}/${network.name}`, network]));
  return [...distinct.values()];
}

function defaultConfig(provider: string, { annotations, subnets }: ConfigContext): string {
  const ofOvn =
    Object.keys(annotations).some((key) => key.startsWith(`${provider}.ovn.`)) ||
    subnets.some(({ spec }) => textOf(spec['provider']) === `${provider}.ovn`);
  return JSON.stringify(ofOvn ? ovnConfig(`${provider}.ovn`) : macvlanConfig(provider));
}

/** The path of the daemon socket in Kube-OVN's documents. */
const serverSocket = '/run/openvswitch/kube-ovn-daemon.sock';

export const macvlanConfig = (provider: string): Fields => ({
  cniVersion: '0.3.1',
  type: 'macvlan',
  master: 'eth0',
  mode: 'bridge',
  ipam: { type: 'kube-ovn', server_socket: serverSocket, provider },
});

const ovnConfig = (provider: string): Fields => ({
  cniVersion: '0.3.1',
  type: 'kube-ovn',
  server_socket: serverSocket,
  provider,
});

/** Parses a NAD: a Kubernetes object, the cases' short form, or words. */
function networkGiven(value: Json): NetworkGiven {
  if (typeof value === 'string') return parseNetworkText(value);
  const { metadata, spec, name, namespace, 'spec.config': short } = fieldsOf(value);
  const { name: ofMetadata, namespace: inMetadata } = fieldsOf(metadata);
  const config = short ?? fieldsOf(spec)['config'] ?? '';
  return {
    name: textOf(name) || textOf(ofMetadata),
    namespace: textOf(namespace) || textOf(inMetadata) || 'default',
    config: isFields(config)
      ? JSON.stringify(config)
      : /does not exist/.test(textOf(config))
        ? undefined
        : textOf(config),
  };
}

/** Parses words such as "attachnet, type kube-ovn, provider attachnet.default.ovn". */
function parseNetworkText(words: string): NetworkGiven {
  const provider = /provider ([\w.-]+)/.exec(words)?.[1];
  const [name = '', namespace = ''] = (provider ?? '').split('.');
  if (provider === undefined || name === '' || namespace === '') throw unsupportedError('NAD', words);
  const config = /ipam\.type kube-ovn/.test(words) ? macvlanConfig(provider) : ovnConfig(provider);
  return { name, namespace, config: JSON.stringify(config) };
}

interface SubnetReferences {
  readonly given: Fields;
  readonly annotations: Readonly<Record<string, string>>;
  readonly names: readonly Selected[];
}

/**
 * Adds Subnets that are named but not given, unless the case gives an empty list. Each Subnet
 * without a CIDR gets one that contains the addresses of the case.
 */
function addMissingSubnets(
  subnets: readonly SubnetGiven[],
  { given, annotations, names }: SubnetReferences,
): SubnetGiven[] {
  const named = [annotations, textFieldsOf(given['namespace annotations'])].flatMap((each) =>
    Object.entries(each).flatMap(([key, value]) => (key.endsWith('/logical_switch') ? value.split(',') : [])),
  );
  const missing =
    given['subnets'] === undefined ? named.filter((name) => !subnets.some((each) => each.name === name)) : [];
  const all = [...subnets, ...missing.map((name) => ({ name, spec: { provider: 'ovn' } as Fields }))];
  const isEmpty = all.length === 0 && given['subnets'] === undefined;
  if (isEmpty && names.length > 0)
    all.push(...names.map(({ name, namespace }) => ({ name, spec: { provider: `${name}.${namespace}` } as Fields })));
  const distinct = [...new Map(all.map((each) => [each.name, each])).values()];
  return distinct.map(({ name, spec }, index) => ({
    name,
    spec: spec['cidrBlock'] === undefined ? { ...spec, cidrBlock: cidrFor(annotations, index) } : spec,
  }));
}

/** Returns a /16 and a /64 around the first annotated addresses; else the CIDR of the documents. */
function cidrFor(annotations: Readonly<Record<string, string>>, index: number): string {
  if (index > 0) return `10.${200 + index}.0.0/16`;
  const requested = Object.entries(annotations)
    .filter(([key]) => /\/(?:ip_address|ip_pool)/.test(key))
    .flatMap(([, value]) => value.split(/[,;]/).map((text) => text.trim()));
  const of = (family: 4 | 6): string | undefined => requested.find((text) => parseAddress(text)?.family === family);
  const [four, six] = [of(4), of(6)];
  const cidrs = [...(four === undefined ? [] : [`${four}/16`]), ...(six === undefined ? [] : [`${six}/64`])];
  return cidrs.length > 0 ? cidrs.join(',') : '172.17.0.0/16';
}
