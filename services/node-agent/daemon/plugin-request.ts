/**
 * The five requests of the plugin; the last part of the path is the verb. ADD and DEL are
 * Kube-OVN's. CHECK, GC and STATUS are ipledger's additions, which Kube-OVN's daemon does not have.
 * The JSON is that of Kube-OVN's plugin, which works unmodified with this agent. Each field has a
 * limit.
 */
import * as z from 'zod';
import type { TraceContext } from '../../../lib/tracing/trace-context.ts';
import type { ContainerInterface } from '../bindings/binding-files.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { checkShape } from '../../../lib/check-shape.ts';

export const verbs = ['add', 'del', 'check', 'gc', 'status'] as const;
export type Verb = (typeof verbs)[number];

const maxAddresses = 64;
const maxAttachments = 10_000;
const maxRoutes = 64;
const maxReportedFaults = 4;

export type PluginRequest =
  | {
      readonly verb: 'add';
      readonly request: CniRequest;
      /** The span in which the container runtime called the plugin. */
      readonly runtimeTrace?: TraceContext | undefined;
    }
  | { readonly verb: 'del'; readonly request: CniRequest }
  | {
      readonly verb: 'check';
      readonly request: CniRequest;
      /** The addresses of the runtime's prevResult: "address/length". */
      readonly addresses: readonly string[];
    }
  | { readonly verb: 'gc'; readonly provider: string; readonly valid: readonly ContainerInterface[] }
  | { readonly verb: 'status'; readonly cniType: string };

/** A text field of limited length. */
const boundedText = (maxLength: number) => z.string().max(maxLength);
const optionalText = (maxLength: number) =>
  boundedText(maxLength)
    .nullish()
    .transform((value) => value ?? '');
const route = z.object({ dst: optionalText(64), gw: optionalText(64) });

/** A container ID in the CNI specification's form. File names contain it. */
export const containerId = boundedText(128).regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'not a container ID');

/** Exceeds the 337 characters that "<network>.<namespace>.ovn.<interface>" may have. */
const maxProviderLength = 512;

/** An interface name in the kernel's form. Multus may omit it. */
export const interfaceName = optionalText(64).refine(
  (name) => /^(?!\.{1,2}$)[^/:\s]{0,15}$/.test(name),
  'not an interface name',
);

/** Parses an ADD, DEL or CHECK. Ignores unknown fields. */
const requestSchema = z
  .object({
    cni_type: optionalText(256),
    pod_name: boundedText(253).min(1),
    pod_namespace: boundedText(63).min(1),
    container_id: containerId,
    net_ns: optionalText(1024).refine((path) => /^($|\/[^\0]*$)/.test(path), 'not an absolute path'),
    if_name: interfaceName,
    provider: optionalText(maxProviderLength),
    routes: z.array(route).max(maxRoutes).nullish(),
    pod_uid: optionalText(128),
    nfn_network: optionalText(253),
    takes_gateway: z.boolean().nullish(),
  })
  .transform((wire) => ({
    cniType: wire.cni_type,
    podName: wire.pod_name,
    podNamespace: wire.pod_namespace,
    containerId: wire.container_id,
    /** Path of the sandbox's network namespace; '' when the namespace is deleted. */
    netns: wire.net_ns,
    /** Defaults to eth0, as in Kube-OVN. */
    interface: wire.if_name === '' ? 'eth0' : wire.if_name,
    provider: sharedProvider(wire.provider, wire.if_name),
    routes: wire.routes ?? [],
    /** An addition of ipledger's plugin; '' from other plugins. */
    podUid: wire.pod_uid,
    /** An addition of ipledger: the only network to connect of an OVN4NFV request; '' for all. */
    nfnNetwork: wire.nfn_network,
    /** An addition of ipledger: whether the plugin gives the gateway's address to the node. */
    takesGateway: wire.takes_gateway === true,
  }));

/** A request about a container, as parsed. */
export type CniRequest = z.output<typeof requestSchema>;

/** Removes the interface from "<nad>.<namespace>.ovn.<interface>". */
function sharedProvider(provider: string, ifName: string): string {
  const suffix = `.${ifName}`;
  const shared = ifName !== '' && provider.endsWith(suffix) ? provider.slice(0, -suffix.length) : provider;
  if (!shared.includes('.')) return provider === '' ? 'ovn' : provider;
  return shared;
}

/**
 * Parses a JSON body.
 * @throws IpledgerError INVALID_REQUEST, "parse add request failed: …"
 */
function parseBody<Schema extends z.ZodType>(verb: string, schema: Schema, body: string): z.output<Schema> {
  if (body.trim() === '') throw parseFailure(verb, 'the body is empty');
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw parseFailure(verb, String(error));
  }
  return readJson(verb, schema, json);
}

const parseFailure = (verb: string, why: string): IpledgerError =>
  new IpledgerError('INVALID_REQUEST', `parse ${verb} request failed: ${why}`);

function readJson<Schema extends z.ZodType>(verb: string, schema: Schema, json: unknown): z.output<Schema> {
  const parsed = checkShape(schema, json);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const faults = issues
    .slice(0, maxReportedFaults)
    .map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  if (issues.length > maxReportedFaults) faults.push(`and ${issues.length - maxReportedFaults} more`);
  throw parseFailure(verb, faults.join('; '));
}

/** Parses a request about a container; see `parseBody`. */
export const parseCniRequest = (verb: string, body: string): CniRequest => parseBody(verb, requestSchema, body);

/** Parses a request that is already JSON; see `parseBody`. */
export const readCniRequest = (verb: string, json: unknown): CniRequest => readJson(verb, requestSchema, json);

const checkSchema = z.object({ addresses: z.array(boundedText(64)).max(maxAddresses) });

const statusSchema = z
  .object({ cni_type: boundedText(256).nullish() })
  .transform(({ cni_type }) => ({ cniType: cni_type ?? '' }));

const gcSchema = z
  .object({
    provider: boundedText(maxProviderLength).min(1),
    attachments: z.array(z.object({ container_id: containerId, if_name: interfaceName })).max(maxAttachments),
  })
  .transform(({ provider, attachments }) => ({
    provider,
    valid: attachments.map(({ container_id, if_name }) => ({ containerId: container_id, interface: if_name })),
  }));

/**
 * Parses the body of a request.
 * @throws IpledgerError INVALID_REQUEST, "parse add request failed: …"
 */
export function parsePluginRequest(verb: Verb, body: string): PluginRequest {
  switch (verb) {
    case 'add':
    case 'del':
      return { verb, request: parseBody(verb, requestSchema, body) };
    case 'check':
      return { verb, request: parseBody(verb, requestSchema, body), ...parseBody(verb, checkSchema, body) };
    case 'gc':
      return { verb, ...parseBody(verb, gcSchema, body) };
    case 'status':
      return { verb, ...parseBody(verb, statusSchema, body.trim() === '' ? '{}' : body) };
  }
}
