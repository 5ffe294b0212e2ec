/**
 * Identities with TLS. A certificate of ipledger has exactly one identity, a URI among its subject
 * alternative names. Its DNS names and addresses are ignored: an identity is a role, and not a
 * location.
 *
 *   ipledger://agent/<node>   ipledger://watcher   ipledger://allocator/<id>   ipledger://operator/<name>
 *   ipledger://ovn-projector   ipledger://read-model   ipledger://viewer
 */
import { truncateUtf8 } from '../cut-middle.ts';
import { IpledgerError } from '../errors.ts';

const named = ['agent', 'allocator', 'operator'] as const;
const nameless = ['ovn-projector', 'read-model', 'viewer', 'watcher'] as const;

/** The kinds of identities that certificates name. */
export const identityKinds = [...named, ...nameless] as const;
export type CertificateKind = (typeof identityKinds)[number];

/** A Kubernetes user is identified only by a token: see kubernetes-user.ts. */
export type IdentityKind = CertificateKind | 'kubernetes-user';

export interface Identity {
  readonly kind: IdentityKind;
  /** The agent's node, the allocator's replica id, or the name of the user; '' for other kinds. */
  readonly name: string;
  /** The name in the certificate or the token, which is also the actor of events. */
  readonly uri: string;
}

const scheme = 'ipledger://';

/** Parses a URI; undefined if it is not an identity of ipledger. */
export function parseIdentity(uri: string): Identity | undefined {
  const [, kind = '', name = ''] = /^ipledger:\/\/([a-z-]+)(?:\/([A-Za-z0-9._-]{1,253}))?$/.exec(uri) ?? [];
  const known = identityKinds.find((one) => one === kind);
  if (!known || named.some((one) => one === known) !== (name !== '')) return undefined;
  return { kind: known, name, uri };
}

/** The bytes of names that an error repeats. */
const maxNamedBytes = 1_000;

/**
 * Finds the identity in a certificate's subject alternative names, in Node's format ("DNS:a,
 * URI:b").
 * @throws IpledgerError UNAUTHENTICATED if there is no identity, or more than one
 */
export function identityIn(alternativeNames: string | undefined): Identity {
  const claimed = urisIn(alternativeNames ?? '').filter((uri) => uri.startsWith(scheme));
  const identity = claimed.length === 1 ? parseIdentity(claimed[0] ?? '') : undefined;
  if (identity) return identity;
  const found = claimed.length === 0 ? 'has none' : `has ${truncateUtf8(claimed.join(', '), maxNamedBytes)}`;
  throw new IpledgerError(
    'UNAUTHENTICATED',
    `the certificate must name exactly one of ipledger://agent/<node>, ipledger://allocator/<id>, ipledger://ovn-projector, ipledger://read-model, ipledger://operator/<name>, ipledger://viewer and ipledger://watcher as a URI among its subject alternative names; it ${found}`,
  );
}

/** Splits the names. Node quotes a name with a comma or quote, which no identity contains. */
function urisIn(names: string): string[] {
  const entries = names.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g);
  return [...entries].flatMap(([, kind, value = '']) => (kind === 'URI' ? [value] : []));
}
