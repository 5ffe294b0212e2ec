/**
 * Users that the Kubernetes API has authenticated. Their identity is "kubernetes:<user name>". No
 * certificate and no agent can have it, because their identities are URIs with the scheme
 * "ipledger:".
 */
import type { Identity } from './identity.ts';

const scheme = 'kubernetes:';
const maxLength = 512;

/** A user as the API server describes it. `name` is the user name in the encoding of `uri`. */
export interface KubernetesUser extends Identity {
  readonly kind: 'kubernetes-user';
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Returns the identity of a user name; undefined for an empty or too long name. */
export function kubernetesIdentity(username: string): Identity | undefined {
  const name = encode(username);
  if (name === '' || name.length > maxLength) return undefined;
  return { kind: 'kubernetes-user', name, uri: scheme + name };
}

/** Parses an identity that another allocator forwards; undefined for other texts. */
export function parseKubernetesIdentity(text: string): Identity | undefined {
  const [, name = ''] = /^kubernetes:((?:[!#$&-+\--[\]-~]|%[0-9A-F]{2}){1,512})$/.exec(text) ?? [];
  return name === '' || name.length > maxLength ? undefined : { kind: 'kubernetes-user', name, uri: text };
}

/** Percent-encodes all characters except printable ASCII, so that identities stay different. */
const encode = (username: string): string =>
  username.replaceAll(/[^!#$&-+\--[\]-~]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
