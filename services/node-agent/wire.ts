/**
 * The wire format of Kube-OVN's daemon socket: JSON over HTTP/1.1. Field names, their order and what is left out when
 * empty are Kube-OVN's, so that its unmodified plugin works against this agent. Answers carry both of its shapes: `ips`
 * (v1.16 and later) and the flat, comma-joined fields of the versions before.
 */
import { isIPv4 } from 'node:net';
import { z } from 'zod';
import { type ErrorCode, IpledgerError } from '../../lib/errors.ts';
import { isAddress, isCidr } from '../../lib/ip.ts';
import type { Allocation, Route } from '../../proto/ipledger.ts';
import { clip, maxErrorBytes } from './cni-error.ts';

const mostRoutes = 64;

const mostFaults = 4;

/** A field of a request, of a limited length. */
export const text = (mostLength: number) => z.string().max(mostLength);
const optionalText = (mostLength: number) =>
  text(mostLength)
    .nullish()
    .transform((value) => value ?? '');
const route = z.object({ dst: optionalText(64), gw: optionalText(64) });

/** The CNI specification's words for it; it names files, too. */
export const containerId = text(128).regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'no container can be named so');

/** "<network>.<namespace>.ovn.<interface>" has at most 337 characters. */
export const mostProviderLength = 512;

/** What the kernel takes for the name of an interface; Multus may leave it out. */
export const interfaceName = optionalText(64).refine(
  (name) => /^(?!\.{1,2}$)[^/:\s]{0,15}$/.test(name),
  'no interface can be named so',
);

/** An ADD, DEL or CHECK; unknown fields are ignored. */
export const requestSchema = z
  .object({
    cni_type: optionalText(256),
    pod_name: text(253).min(1),
    pod_namespace: text(63).min(1),
    container_id: containerId,
    net_ns: optionalText(1024).refine((path) => /^($|\/[^\0]*$)/.test(path), 'no absolute path'),
    if_name: interfaceName,
    provider: optionalText(mostProviderLength),
    routes: z.array(route).max(mostRoutes).nullish(),
    pod_uid: optionalText(128),
  })
  .transform((wire) => ({
    cniType: wire.cni_type,
    podName: wire.pod_name,
    podNamespace: wire.pod_namespace,
    containerId: wire.container_id,
    /** Path of the sandbox's network namespace; '' when it is gone. */
    netns: wire.net_ns,
    /** Kube-OVN takes a missing interface name for eth0. */
    interface: wire.if_name === '' ? 'eth0' : wire.if_name,
    provider: lookupName(wire.provider, wire.if_name),
    routes: wire.routes ?? [],
    /** Our plugin's extension; '' from everybody else. */
    podUid: wire.pod_uid,
  }));

/** A request about a container, as the plugin sent it. */
export type CniRequest = z.output<typeof requestSchema>;

/** "<nad>.<namespace>.ovn.<interface>" is one of several NICs on the same network: all share the provider without it. */
function lookupName(provider: string, ifName: string): string {
  const suffix = `.${ifName}`;
  const shared = ifName !== '' && provider.endsWith(suffix) ? provider.slice(0, -suffix.length) : provider;
  if (!shared.includes('.')) return provider === '' ? 'ovn' : provider;
  return shared;
}

/**
 * Reads a body.
 * @throws IpledgerError INVALID_REQUEST, "parse add request failed: …"
 */
export function parseAs<Schema extends z.ZodType>(verb: string, schema: Schema, body: string): z.output<Schema> {
  const failed = (why: string) => new IpledgerError('INVALID_REQUEST', `parse ${verb} request failed: ${why}`);
  if (body.trim() === '') throw failed('the body is empty');
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw failed(String(error));
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const faults = issues.slice(0, mostFaults).map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw failed(
    [...faults, ...(issues.length > mostFaults ? [`and ${issues.length - mostFaults} more`] : [])].join('; '),
  );
}

/** Reads a request about a container; as `parseAs`. */
export const parseRequest = (verb: string, body: string): CniRequest => parseAs(verb, requestSchema, body);

interface WireRoute {
  dst?: string;
  gw?: string;
}

/** The body of every answer to ADD, in the order in which its fields are written. */
interface CniAnswer {
  readonly ips: readonly { protocol: string; ip: string; cidr: string; gateway?: string }[] | null;
  readonly protocol: string;
  readonly address: string;
  readonly mac_address: string;
  readonly cidr: string;
  readonly gateway: string;
  readonly routes: readonly WireRoute[] | null;
  readonly mtu: number;
  readonly nicname: string;
  readonly dns: object;
  readonly error: string;
  /** Our extension: the CNI error code where "try again later" (11) would be wrong. */
  readonly cni_code?: number;
}

const empty: CniAnswer = {
  ips: null,
  protocol: '',
  address: '',
  mac_address: '',
  cidr: '',
  gateway: '',
  routes: null,
  mtu: 0,
  nicname: '',
  dns: {},
  error: '',
};

/**
 * What a successful ADD answers. The gateway is told only for the interface that carries the default route: the one that
 * the Pod's annotation says, else eth0. MAC and NIC name stay empty: they belong to NICs of Kube-OVN's own kind.
 */
export function answerAdd(request: CniRequest, allocation: Allocation): string {
  const isDefaultRoute = allocation.defaultRoute ?? request.interface === 'eth0';
  const ips = allocation.addresses.map(({ address, cidr, gateway }) => ({
    protocol: isIPv4(address) ? 'IPv4' : 'IPv6',
    ip: address,
    cidr,
    ...(isDefaultRoute && gateway !== '' && { gateway }),
  }));
  const routes = routesFor(request, allocation);
  const answer: CniAnswer = {
    ...empty,
    ips,
    protocol: ips.length > 1 ? 'Dual' : (ips[0]?.protocol ?? ''),
    address: ips.map(({ ip }) => ip).join(','),
    cidr: ips.map(({ cidr }) => cidr).join(','),
    gateway: ips.flatMap(({ gateway }) => gateway ?? []).join(','),
    routes: routes.length > 0 ? routes.map(wireRoute) : null,
  };
  return JSON.stringify(answer);
}

/** The routes of the network's configuration first, then those of the Pod's annotation. */
export const routesFor = (request: CniRequest, allocation: Allocation): Route[] => [
  ...request.routes,
  ...allocation.routes,
];

const wireRoute = ({ dst, gw }: Route): WireRoute => ({ ...(dst !== '' && { dst }), ...(gw !== '' && { gw }) });

/** CNI codes, from 100 on, of errors that a runtime need not try again soon. */
const lastingCniCodes: Partial<Record<ErrorCode, number>> = { NOT_IMPLEMENTED: 100, CHECK_FAILED: 101 };

/** The body of an answer that is an error; a longer message is cut. */
export function answerError(error: IpledgerError): string {
  const cni_code = lastingCniCodes[error.code];
  return JSON.stringify({
    ...empty,
    error: clip(error.message, maxErrorBytes),
    ...(cni_code && { cni_code }),
  } satisfies CniAnswer);
}

/** What is wrong with a route, for a person; undefined when nothing is. Host bits in `dst` are allowed: the plugin masks them. */
export function faultOf({ dst, gw }: Route): string | undefined {
  if (dst !== '' && !isCidr(dst)) return `dst ${JSON.stringify(dst)} is no CIDR`;
  if (gw !== '' && !isAddress(gw)) return `gw ${JSON.stringify(gw)} is no IP address`;
  return undefined;
}

/** The family whose default route this is; undefined for any other route. Without `dst` the gateway says the family. */
export function defaultFamily({ dst, gw }: Route): 4 | 6 | undefined {
  if (dst !== '' && !dst.endsWith('/0')) return undefined;
  return isIPv4(gw === '' ? dst.slice(0, -'/0'.length) : gw) ? 4 : 6;
}
