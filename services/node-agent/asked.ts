/**
 * What the plugin asks, by the last word of its path. ADD and DEL are in Kube-OVN's format; CHECK, GC and STATUS are ours: Kube-OVN's
 * daemon has no such paths.
 */
import { z } from 'zod';
import {
  type CniRequest,
  containerId,
  interfaceName,
  mostProviderLength,
  parseAs,
  requestSchema,
  text,
} from './wire.ts';

export const verbs = ['add', 'del', 'check', 'gc', 'status'] as const;
export type Verb = (typeof verbs)[number];

const mostAddresses = 64;
const mostAttachments = 10_000;

export type Asked =
  | { readonly verb: 'add' | 'del'; readonly request: CniRequest }
  | {
      readonly verb: 'check';
      readonly request: CniRequest;
      /** What the container got by its ADD, as the runtime remembers: "address/length". */
      readonly addresses: readonly string[];
    }
  | { readonly verb: 'gc'; readonly provider: string; readonly valid: readonly Attached[] }
  | { readonly verb: 'status' };

/** A container's interface, by which a binding is known. */
export interface Attached {
  readonly containerId: string;
  readonly interface: string;
}

const checkSchema = z.object({ addresses: z.array(text(64)).max(mostAddresses) });

const gcSchema = z
  .object({
    provider: text(mostProviderLength).min(1),
    attachments: z.array(z.object({ container_id: containerId, if_name: interfaceName })).max(mostAttachments),
  })
  .transform(({ provider, attachments }) => ({
    provider,
    valid: attachments.map(({ container_id, if_name }) => ({ containerId: container_id, interface: if_name })),
  }));

/**
 * Reads the body of a request.
 * @throws IpledgerError INVALID_REQUEST, "parse add request failed: …"
 */
export function parseAsked(verb: Verb, body: string): Asked {
  switch (verb) {
    case 'add':
    case 'del':
      return { verb, request: parseAs(verb, requestSchema, body) };
    case 'check':
      return { verb, request: parseAs(verb, requestSchema, body), ...parseAs(verb, checkSchema, body) };
    case 'gc':
      return { verb, ...parseAs(verb, gcSchema, body) };
    case 'status':
      return { verb };
  }
}
