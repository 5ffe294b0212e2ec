/**
 * The annotations of an attachment, "<provider>.kubernetes.io/<suffix>", in one row each. All other
 * lists follow from the rows: what the pod-watcher stores, reads, writes and removes.
 * docs/annotations.md describes each annotation.
 */
import { ok, problem, type Result } from '../../../../lib/result.ts';
import { podLimits } from '../../limits.ts';
import {
  type AddressConstraints,
  parseAddresses,
  parseBoolean,
  parseCidrs,
  parseFamily,
  parseMac,
  parsePool,
  parseRoutes,
  validateRate,
} from './annotation-values.ts';

/** The Pod "namespace/name" of a value, and the constraints of its attachment. */
interface Purpose {
  readonly pod: string;
  readonly constraints: AddressConstraints;
}

interface AnnotationRow {
  readonly suffix: string;
  /** Parses the value without surrounding blanks; absent: the annotation requests nothing. */
  readonly parse?: (value: string, key: string, purpose: Purpose) => Result<unknown>;
  /** The field of `RequestedValues` for the value; absent: the value is only validated. */
  readonly field?: string;
  /** The field for "<network>.<namespace>.kubernetes.io/<suffix>.<interface>" of one NIC. */
  readonly interfaceField?: string;
  /**
   * The keys with a value for a NIC. `nic`: the key of its interface, or else of the provider if
   * the Pod selects the network once. `constraint`: the key of its interface, or else of the
   * provider. `provider`: only the key of the provider.
   */
  readonly keys?: 'nic' | 'constraint' | 'provider';
  /** Whether the value is validated under each interface's key. */
  readonly isAlwaysValidated?: true;
  /** Whether a blank value is an error; otherwise it counts as absent. */
  readonly rejectsBlank?: true;
  /** The limit in characters; default: `podLimits.annotationLength`. */
  readonly maxLength?: number;
  /** Whether the pod-watcher writes the annotation. A copied Pod loses a `result`. */
  readonly written?: 'result' | 'request';
}

/** The rows, in the order in which errors are reported. Constraints precede what they constrain. */
const annotationTable = [
  { suffix: 'logical_switch', written: 'request', field: 'subnet', keys: 'nic', parse: (value) => ok(value) },
  { suffix: 'allocated', written: 'result' },
  { suffix: 'cidr', written: 'result', field: 'cidrs', keys: 'constraint', parse: parseCidrs },
  { suffix: 'gateway', written: 'result' },
  { suffix: 'routed', written: 'result' },
  { suffix: 'virtualmachine', written: 'result' },
  { suffix: 'logical_router', written: 'result' },
  { suffix: 'vlan_id', written: 'result' },
  { suffix: 'provider_network', written: 'result' },
  { suffix: 'pod_nic_type', written: 'request' },
  { suffix: 'ip_family', field: 'family', keys: 'constraint', isAlwaysValidated: true, parse: parseFamily },
  {
    suffix: 'ip_pool',
    field: 'pool',
    keys: 'nic',
    rejectsBlank: true,
    maxLength: podLimits.poolLength,
    parse: (value, key, { constraints }) => parsePool(value, key, constraints),
  },
  {
    suffix: 'ip_address',
    written: 'request',
    field: 'addresses',
    interfaceField: 'interfaceAddresses',
    keys: 'nic',
    parse: (value, key, { constraints }) =>
      parseAddresses(value.split(','), { key, label: 'ip_address annotation', allowsPrefixLength: false }, constraints),
  },
  {
    suffix: 'mac_address',
    written: 'request',
    field: 'mac',
    interfaceField: 'interfaceMac',
    keys: 'nic',
    parse: parseMac,
  },
  { suffix: 'ingress_rate', isAlwaysValidated: true, parse: validateRate },
  { suffix: 'ingress_burst', isAlwaysValidated: true, parse: validateRate },
  { suffix: 'egress_rate', isAlwaysValidated: true, parse: validateRate },
  { suffix: 'egress_burst', isAlwaysValidated: true, parse: validateRate },
  {
    suffix: 'routes',
    field: 'routes',
    keys: 'provider',
    maxLength: podLimits.routesLength,
    parse: (value, key, { pod }) => {
      const routes = parseRoutes(value);
      return routes.ok ? routes : problem(`invalid routes for pod ${pod}: ${key}: ${routes.problem}`);
    },
  },
  { suffix: 'default_route', field: 'defaultRoute', keys: 'provider', parse: parseBoolean },
] as const satisfies readonly AnnotationRow[];

type Row = (typeof annotationTable)[number];

/** A value in a Pod's annotation, with its key. */
export interface Requested<T> {
  readonly key: string;
  readonly value: T;
}

type ValueOf<R> = R extends { parse: (...parameters: never[]) => Result<infer T> } ? T : never;

/** The values for one attachment. A field is absent without a valid annotation. */
export type RequestedValues = {
  readonly [R in Extract<Row, { field: string }> as R['field']]?: Requested<ValueOf<R>> | undefined;
} & { readonly [R in Extract<Row, { interfaceField: string }> as R['interfaceField']]?: Requested<ValueOf<R>> };

const rows: readonly AnnotationRow[] = annotationTable;

export type RequestRow = AnnotationRow & Required<Pick<AnnotationRow, 'parse'>>;

export const requestRows = rows.filter((row): row is RequestRow => row.parse !== undefined);

export const attachmentSuffixes: readonly string[] = rows.map(({ suffix }) => suffix);

/** The suffixes of results. `cidr` is a constraint without `allocated` beside it. */
export const resultSuffixes = rows.filter(({ written }) => written === 'result').map(({ suffix }) => suffix);

/** The suffixes that the watcher writes. The policy of deploy/rbac.yaml permits no others. */
export const writtenSuffixes = rows.filter(({ written }) => written !== undefined).map(({ suffix }) => suffix);

export type WrittenSuffix = Extract<Row, { written: string }>['suffix'];

const suffixesWithInterface = rows.filter((row) => row.interfaceField !== undefined).map(({ suffix }) => suffix);

const pattern = new RegExp(
  `\\.kubernetes\\.io/(?:(?:${suffixesWithInterface.join('|')})\\..+|${attachmentSuffixes.join('|')})$`,
);

/** Whether a key is an attachment's annotation. A plain search rejects most keys first. */
export const isAttachmentKey = (key: string): boolean => key.includes('.kubernetes.io/') && pattern.test(key);

const uniqueKeyParts = suffixesWithInterface.map((suffix) => `/${suffix}`);

/** Whether only one Pod has the value of this annotation. */
export const isUniqueKey = (key: string): boolean => uniqueKeyParts.some((part) => key.includes(part));

const maxLengths = new Map(rows.map(({ suffix, maxLength = podLimits.annotationLength }) => [suffix, maxLength]));

/** Returns the maximum length of the value of an annotation. */
export const maxLengthOfKey = (key: string): number =>
  maxLengths.get(key.slice(key.lastIndexOf('/') + 1)) ?? podLimits.annotationLength;
