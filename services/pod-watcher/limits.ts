/**
 * The limits on what an object of the Kubernetes API may say: each is checked when the object arrives, before any other work
 * on it, so that no tenant's object costs more than its share. docs/security.md lists them. Lengths count characters.
 */

/** Of a Pod. */
export const podLimits = {
  /** Networks that the annotations select, the default network included. */
  attachments: 24,
  /** Entries of an `ip_pool` list; the allocator takes no more for one attachment. */
  candidates: 256,
  /** The same of all attachments together. */
  candidatesOfPod: 1_024,
  /** Addresses in all `ip_pool` annotations together: so many candidates, of both families. */
  poolAddresses: 2_048,
  /** Addresses in one `ip_address` annotation, or in the `ips` of a network. */
  addresses: 8,
  /** Gateways in the `default-route` of a network. */
  gateways: 8,
  /** Entries of a `routes` annotation; the allocator takes no more. */
  routes: 64,
  /** Annotations about attachments. */
  annotations: 512,
  /** All annotations about attachments together. */
  annotationsLength: 65_536,
  ownerReferences: 64,
  networksLength: 16_384,
  poolLength: 16_384,
  routesLength: 8_192,
  /** Every other annotation about attachments. */
  annotationLength: 1_024,
} as const;

/** Of one word, in whichever object it stands. */
export const textLimits = {
  /** Linux takes no longer one. */
  interfaceLength: 15,
  namespaceLength: 63,
  /** The longest name that Kubernetes takes. */
  nameLength: 253,
  /** "<network>.<namespace>.ovn"; the allocator takes no longer one. */
  providerLength: 337,
  /** An address, with its prefix length if it has one; a MAC. */
  addressLength: 64,
} as const;

/** Of a Subnet. */
export const subnetLimits = {
  /** `cidrBlock` and `gateway`: one of each family. */
  cidrLength: 128,
  /** The allocator takes no more. */
  excludeIps: 4_096,
  vips: 256,
  namespaces: 4_096,
  /** `namespaceSelectors`, as JSON. */
  selectorsLength: 16_384,
} as const;

/** Of an IPPool; the allocator takes no more. */
export const poolLimits = { ips: 4_096, namespaces: 4_096 } as const;

/** Of an IP object. */
export const ipLimits = {
  /** `spec`, as JSON. */
  specLength: 8_192,
  /** `ipAddress`: one of each family. */
  addressesLength: 128,
} as const;

/** Of a NetworkAttachmentDefinition. */
export const networkLimits = { configLength: 65_536, plugins: 32 } as const;

/** Of a namespace: the names in its annotations `logical_switch` and `ip_pool`. */
export const namespaceLimits = { names: 256 } as const;

/** Of a Node: the addresses that are read of its status. */
export const nodeLimits = { addresses: 32 } as const;

/** Of a turn of a work queue: how long it may take before its key is logged. */
export const turnLimits = {
  slowMs: 1_000,
  /** How long a work queue begins turns before all else that waits for the event loop goes first. */
  sliceMs: 10,
} as const;

/** That something is over its limit: what has how many of what, the most, and what to do. */
export function overLimit(
  what: string,
  {
    has,
    most,
    unit,
    remedy,
  }: { readonly has: number; readonly most: number; readonly unit: string; readonly remedy: string },
): string {
  return `${what} has ${has} ${unit}, and at most ${most} are taken: ${remedy}`;
}

/** That a text is too long, as above; undefined when it is not. */
export function tooLong(what: string, { length }: string, most: number): string | undefined {
  return length > most ? overLimit(what, { has: length, most, unit: 'characters', remedy: 'shorten it' }) : undefined;
}

/** That a list is too long, as above; undefined when it is not. */
export function tooMany(
  what: string,
  { length }: readonly unknown[],
  { most, unit }: { readonly most: number; readonly unit: string },
): string | undefined {
  return length > most ? overLimit(what, { has: length, most, unit, remedy: 'remove some' }) : undefined;
}

const shownLength = 120;

/** A text as a message quotes it: the beginning of a long one, so that the message keeps what to do. */
export function shown(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}
