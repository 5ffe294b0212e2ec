/**
 * The five requests of the plugin; the last part of the path is the verb. ADD and DEL are Kube-OVN's. CHECK, GC and STATUS
 * are ipledger's additions, which Kube-OVN's daemon does not have.
 */
import * as z from 'zod';
import type { TraceContext } from '../../../lib/tracing/trace-context.ts';
import type { ContainerInterface } from '../bindings/container-interface.ts';
import {
  type CniRequest,
  containerId,
  interfaceName,
  maxProviderLength,
  parseBody,
  requestSchema,
  boundedText,
} from './cni-request.ts';

export const verbs = ['add', 'del', 'check', 'gc', 'status'] as const;
export type Verb = (typeof verbs)[number];

const maxAddresses = 64;
const maxAttachments = 10_000;

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
