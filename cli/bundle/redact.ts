/** Removes secrets from the texts of a support bundle, and on request replaces names. */
import { createHmac, randomBytes } from 'node:crypto';

const removed = '[redacted]';

/**
 * What a secret looks like, in a log or in JSON, also quoted inside of JSON. Each is a scan without
 * backtracking over lines: texts of tenants have any length.
 */
const secrets: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Keys in PEM; a certificate is public
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g, removed],
  // Signer keys of checkpoints (c2sp.org/signed-note)
  [/PRIVATE\+KEY\+[^\s"\\]+/g, removed],
  // JSON Web Tokens, as those of ServiceAccounts
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, removed],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${removed}`],
  // Credentials of a URL
  [/(:\/\/[^\s/@:"\\]{0,256}):[^\s/@"\\]{1,256}@/g, `$1:${removed}@`],
  // Access keys of object stores
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, removed],
  // A field or a variable named as a secret; the value may be quoted once or twice
  [
    /((?:passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|credential|authorization)\w{0,32}\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?)(?!\[redacted\])([^\s"'\\,;}{[\]]{4,})/gi,
    `$1${removed}`,
  ],
];

/** A text without what looks like a secret. */
export const redact = (text: string): string =>
  secrets.reduce((rest, [pattern, replacement]) => rest.replaceAll(pattern, replacement), text);

/** Words that are the same on every cluster. */
const common = new Set(
  'default kube-system kube-public kubernetes io ipledger-system ipledger allocator pod-watcher node-agent ovn-projector read-model console etcd kube-ovn macvlan ipvlan bridge multus kubeovn ovn svc cluster local etcd-jobs'.split(
    ' ',
  ),
);
const word = /[a-zA-Z0-9][\w-]*/g;

/**
 * Returns a function that replaces names consistently: one name is one hash in the whole bundle.
 * The key is of this bundle only and not in it, so that guessed names cannot be compared.
 * @param names with dots and slashes: each part counts
 */
export function createNameHash(names: Iterable<string>): (text: string) => string {
  const key = randomBytes(32);
  const parts = [...names]
    .flatMap((name) => name.match(word) ?? [])
    .filter((part) => !common.has(part) && !/^\d+$/.test(part));
  const hashes = new Map(
    [...new Set(parts)].map((part) => [part, `x${createHmac('sha256', key).update(part).digest('hex').slice(0, 10)}`]),
  );
  return (text) => text.replaceAll(word, (match) => hashes.get(match) ?? match);
}

const secretField = /passw|passphrase|secret|api_?key|access_?key|private_?key|token|credential|authorization/i;

/**
 * Applies `change` to each text of a JSON value, and to keys that are no plain field names. The
 * text of a field named as a secret is removed.
 */
export function cleanJson(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => cleanJson(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const isSecret = secretField.test(key) && typeof each === 'string' && each !== '';
      return [/^\w+$/.test(key) ? key : change(key), isSecret ? removed : cleanJson(each, change)];
    }),
  );
}
