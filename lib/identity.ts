/**
 * Who is who where TLS is on: a certificate of ours names one identity, a URI among its subject alternative names. Whatever
 * else it names, a DNS name or an address, says nothing to us: parts are known by what they are, not by where they are.
 *
 *   ipledger://agent/<node>   ipledger://watcher   ipledger://allocator/<id>   ipledger://operator/<name>
 *   ipledger://index   ipledger://viewer
 */
import { IpledgerError } from './errors.ts';

const named = ['agent', 'allocator', 'operator'] as const;
const nameless = ['index', 'viewer', 'watcher'] as const;

/** What a part or a person may be. */
export const identityKinds = [...named, ...nameless] as const;
export type IdentityKind = (typeof identityKinds)[number];

export interface Identity {
  readonly kind: IdentityKind;
  /** The agent's node, the allocator's replica id, the operator's name; '' of those that have none. */
  readonly name: string;
  /** As the certificate writes it, and events name their actor. */
  readonly uri: string;
}

const scheme = 'ipledger://';

/** An identity from its URI; undefined when it is none of ours. */
export function parseIdentity(uri: string): Identity | undefined {
  const [, kind = '', name = ''] = /^ipledger:\/\/([a-z]+)(?:\/([A-Za-z0-9._-]{1,253}))?$/.exec(uri) ?? [];
  const known = identityKinds.find((one) => one === kind);
  if (!known || named.some((one) => one === known) !== (name !== '')) return undefined;
  return { kind: known, name, uri };
}

/**
 * The identity in a certificate's subject alternative names, as Node writes them ("DNS:a, URI:b").
 * @throws IpledgerError UNAUTHENTICATED when they name none, or more than one.
 */
export function identityIn(alternativeNames: string | undefined): Identity {
  const claimed = urisIn(alternativeNames ?? '').filter((uri) => uri.startsWith(scheme));
  const identity = claimed.length === 1 ? parseIdentity(claimed[0] ?? '') : undefined;
  if (identity) return identity;
  const found = claimed.length === 0 ? 'has none' : `has ${claimed.join(', ')}`;
  throw new IpledgerError(
    'UNAUTHENTICATED',
    `the certificate must name exactly one of ipledger://agent/<node>, ipledger://allocator/<id>, ipledger://index, ipledger://operator/<name>, ipledger://viewer and ipledger://watcher as a URI among its subject alternative names; it ${found}`,
  );
}

/** Node writes in quotes what has a comma or a quote in it: such a one is never ours. */
function urisIn(names: string): string[] {
  const entries = names.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g);
  return [...entries].flatMap(([, kind, value = '']) => (kind === 'URI' ? [value] : []));
}
