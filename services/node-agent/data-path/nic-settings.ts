/** Reads the settings of a NIC from its Subnet, its Vlan and the annotations of its Pod. */
import * as z from 'zod';
import { podPath } from '../../../lib/kubernetes/client/object-requests.ts';
import type { ObjectReader } from '../kubernetes/object-reader.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';
import { DataPathError } from './data-path-error.ts';
import { checkShape } from '../../../lib/check-shape.ts';

/** A Subnet's MTU for its NICs: from 68, which IPv4 requires, to 65,535; 0 if not set. */
const mtu = z.number().int().min(0).max(65_535);
const name = z.string().max(253);

const subnetSchema = z.object({
  spec: z.object({
    mtu: mtu.default(0),
    vlan: name.default(''),
    logicalGateway: z.boolean().default(false),
    u2oInterconnection: z.boolean().default(false),
    disableGatewayCheck: z.boolean().default(false),
  }),
});
const vlanSchema = z.object({ spec: z.object({ provider: name.min(1) }) });
const podSchema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).default({}) }),
});

/** A rate, and the burst in kbit that may exceed it. */
export interface RateLimit {
  readonly kbps: number;
  /** The burst in kbit; 0 if not set. */
  readonly burstKb: number;
}

export interface NicSettings {
  /** The field spec.mtu of the Subnet; 0 if not set. */
  readonly mtu: number;
  /** Whether the Subnet is on a physical network: its switch has a localnet port. */
  readonly isUnderlay: boolean;
  /** The ProviderNetwork of an underlay, for its MTU; '' if OVN's tunnels carry the packets. */
  readonly providerNetwork: string;
  readonly isGatewayCheckDisabled: boolean;
  /** The limit of packets to the Pod; undefined: no limit. */
  readonly ingress: RateLimit | undefined;
  /** The limit of packets from the Pod; undefined: no limit. */
  readonly egress: RateLimit | undefined;
}

export interface SettingsOptions {
  readonly request: CniRequest;
  readonly subnet: string;
  readonly signal: AbortSignal;
}

/**
 * Reads the settings from Subnet and Pod, and the Vlan of an underlay Subnet without MTU.
 * @throws DataPathError settings; IpledgerError UNAVAILABLE or PERMISSION_DENIED as the reader
 */
export async function readNicSettings(
  read: ObjectReader,
  { request, subnet, signal }: SettingsOptions,
): Promise<NicSettings> {
  const { podNamespace, podName } = request;
  const [subnetObject, pod] = await Promise.all([
    read(kubeOvnPath('subnets', subnet), `get subnet ${subnet}`, signal),
    read(podPath(podNamespace, podName), `get pod ${podNamespace}/${podName}`, signal),
  ]);
  const { spec } = parse(subnetSchema, subnetObject, `Subnet ${subnet}`);
  const { annotations } = parse(podSchema, pod, `Pod ${podNamespace}/${podName}`).metadata;
  const isRouted = spec.logicalGateway || spec.u2oInterconnection;
  let providerNetwork = '';
  if (spec.vlan !== '' && !isRouted && spec.mtu === 0) {
    const vlan = await read(kubeOvnPath('vlans', spec.vlan), `get vlan ${spec.vlan}`, signal);
    providerNetwork = parse(vlanSchema, vlan, `Vlan ${spec.vlan} of Subnet ${subnet}`).spec.provider;
  }
  return {
    mtu: spec.mtu,
    isUnderlay: spec.vlan !== '',
    providerNetwork,
    isGatewayCheckDisabled: spec.disableGatewayCheck,
    ingress: readRateLimit(annotations, request, 'ingress'),
    egress: readRateLimit(annotations, request, 'egress'),
  };
}

const kubeOvnPath = (resource: string, name: string): string =>
  `/apis/kubeovn.io/v1/${resource}/${encodeURIComponent(name)}`;

function parse<Schema extends z.ZodType>(schema: Schema, object: unknown, what: string): z.output<Schema> {
  if (object === undefined) throw new DataPathError('settings', `${what} does not exist in Kubernetes: create it`);
  const parsed = checkShape(schema, object);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new DataPathError('settings', `${what}: ${issue?.path.join('.') ?? ''} is invalid: ${issue?.message ?? ''}`);
}

/** The highest rate: 1 Tbit/s. */
const maxMbps = 1_000_000;

/**
 * Reads `<direction>_rate` and `<direction>_burst`, in Mbit/s and Mbit; 0 means no limit. If the
 * Pod attaches a network several times, annotations with the interface precede those of all its
 * NICs.
 * @throws DataPathError settings
 */
export function readRateLimit(
  annotations: Readonly<Record<string, string>>,
  { provider, interface: nic }: Pick<CniRequest, 'provider' | 'interface'>,
  direction: 'ingress' | 'egress',
): RateLimit | undefined {
  const readKilobits = (suffix: string): number => {
    const keys = [`${provider}.${nic}.kubernetes.io/${suffix}`, `${provider}.kubernetes.io/${suffix}`];
    const key = keys.find((each) => annotations[each] !== undefined);
    const text = (key !== undefined && annotations[key]) || '0';
    if (/^\d{1,7}(\.\d{1,6})?$/.test(text) && Number(text) <= maxMbps) return Math.ceil(Number(text) * 1_000);
    const value = JSON.stringify(text.slice(0, 32));
    throw new DataPathError('settings', `annotation ${key ?? suffix} is ${value}: set a number from 0 to ${maxMbps}`);
  };
  const kbps = readKilobits(`${direction}_rate`);
  return kbps === 0 ? undefined : { kbps, burstKb: readKilobits(`${direction}_burst`) };
}
