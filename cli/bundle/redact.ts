/** Removes secrets from the texts of a support bundle, and on request replaces names. */
import { createHmac, randomBytes } from 'node:crypto';
import { asText, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';

const removed = '[redacted]';

/** Parts of the names of fields, variables and flags that hold a secret. */
const secretName =
  'passw(?:or)?d|pwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|key-data|tls\\.key|token|credential|authorization|\\b_?auth\\b';
const named = `(?:${secretName})[\\w-]{0,32}`;
/** The quote of a name or a value. In JSON inside of JSON, it has backslashes. */
const quote = `\\\\{0,7}["']`;
const isField = `(?:${quote})?[ \\t]{0,4}[:=][ \\t]{0,4}`;
const isKept = String.raw`(?!\[redacted\])`;
/**
 * A quoted value ends at the quote that has as many backslashes as its first one, or with the line.
 */
const quotedValue = String.raw`(?<escape>\\{0,7})(?<mark>["'])(?:(?!(?<!\\)\k<escape>\k<mark>)[^\n])*`;
const keepQuote = `$<field>$<escape>$<mark>${removed}`;
const bareValue = String.raw`[^\s"'\\&]+`;

/**
 * The patterns of secrets in a log or in JSON, also quoted inside of JSON. Each scans a line
 * without backtracking: texts of tenants have any length.
 */
const secrets: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Keys in PEM; a certificate is public
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\s\S])*(?:-----END [A-Z ]{0,60}-----)?/g, removed],
  // PEM, and what gzip or Helm compressed, in base64
  [/(?:LS0tLS1CRUdJTi|H4sIA|SDRzSUFB)[\w+/=-]+/g, removed],
  // Signer keys of checkpoints (c2sp.org/signed-note)
  [/PRIVATE\+KEY\+[^\s"\\]+/g, removed],
  // JSON Web Tokens, as those of ServiceAccounts
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, removed],
  // Tokens of kubeadm and of GitHub
  [/\b[a-z0-9]{6}\.(?![a-z]{16}\b)[a-z0-9]{16}\b/g, removed],
  [/\b(?:gh[a-z]|github_pat)_\w{20,}/g, removed],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${removed}`],
  // Credentials of a URL
  [/(:\/\/[^\s/@:"\\]{0,256}):[^\s/@"\\]{1,256}@/g, `$1:${removed}@`],
  [/(X-Amz-(?:Signature|Credential|Security-Token)(?:=|%3D))[^\s"'\\&]+/gi, `$1${removed}`],
  // Access keys of object stores
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, removed],
  [/((?<![\w-])(?:--user|-u)[ \t=]{1,4}[^\s:"'\\]{1,256}:)[^\s"'\\]+/g, `$1${removed}`],
  [/(\bcookie["'\\]{0,8}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,8})[^\n"'\\]+/gi, `$1${removed}`],
  // The variable of a container: its name, then its value
  [
    new RegExp(
      `(?<field>\\bname${isField}(?:${quote})?\\w{0,64}?${named}(?:${quote})?(?:[\\s,]|\\\\{1,7}[nt]){0,64}(?:${quote})?value${isField})(?:${quotedValue}|${bareValue})`,
      'gi',
    ),
    keepQuote,
  ],
  // A field or a variable named as a secret
  [new RegExp(`(?<field>${named}${isField})${isKept}${quotedValue}`, 'gi'), keepQuote],
  [
    new RegExp(`(${named}${isField}[[{])(?<!\\[(?=redacted\\]))(?:"[^"\\n]*"|'[^'\\n]*'|[^"'\\]}\\n])*`, 'gi'),
    `$1${removed}`,
  ],
  [
    new RegExp(`(${named}(?:[ \\t]{0,4}=[ \\t]{0,4}|:))${isKept}(?!(?:true|false|null)\\b)${bareValue}`, 'gi'),
    `$1${removed}`,
  ],
  // A word after a colon is mostly no secret in prose: "cannot read Secret: not found"
  [
    new RegExp(
      `(${named}:[ \\t]{1,4})${isKept}(?=[^\\s"'\\\\]{8})(?=[^\\s"'\\\\A-Z0-9]{0,256}(?-i:[A-Z0-9]))${bareValue}`,
      'gi',
    ),
    `$1${removed}`,
  ],
  [
    new RegExp(
      `(?<field>(?<![\\w-])--?(?:[\\w-]{0,32}?)${named}(?:[ \\t]{1,4}|${quote},\\s{0,4}))${isKept}(?!-)(?:${quotedValue}|${bareValue})`,
      'gi',
    ),
    keepQuote,
  ],
];

/** Removes what looks like a secret from a text. */
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
 * The key is random and not in the bundle, so that guessed names cannot be compared.
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

const secretField = new RegExp(`${secretName}|^_?auths?$|cookie|\\.key$`, 'i');
const secretFlag = new RegExp(`^--?[\\w-]{0,64}(?:${secretName})[\\w-]{0,32}$`, 'i');
/** Deeper levels of a tenant's JSON are removed. */
const maxLevels = 64;

/**
 * Applies `change` to each text of a JSON value, also to those of JSON in a text, and to keys that
 * are no plain field names. All texts of a field, a variable or a flag named as a secret are
 * removed.
 */
export function cleanJson(value: unknown, change: (text: string) => string, level = 0): unknown {
  if (typeof value === 'string') {
    const parsed = parseObject(value);
    return parsed === undefined ? change(value) : JSON.stringify(cleanJson(parsed, change, level + 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (level > maxLevels) return removed;
  if (Array.isArray(value))
    return value.map((each, index) =>
      isText(value[index - 1], secretFlag) ? removeTexts(each, level) : cleanJson(each, change, level + 1),
    );
  const isVariable = 'value' in value && 'name' in value && isText(value.name, secretField);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const isSecret = secretField.test(key) || (isVariable && key === 'value');
      const name = /^\w+$/.test(key) ? key : change(key);
      return [name, isSecret ? removeTexts(each, level) : cleanJson(each, change, level + 1)];
    }),
  );
}

/** Applies `change` to a text, and to the texts of its lines that are JSON. */
export const cleanLines = (text: string, change: (text: string) => string): string =>
  change(
    text
      .split('\n')
      .map((line) => (parseObject(line) === undefined ? line : asText(cleanJson(line, change))))
      .join('\n'),
  );

const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

function parseObject(text: string): object | undefined {
  const parsed = /^\s{0,64}[[{]/.test(text) ? tryParseJson(text) : undefined;
  return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
}

function removeTexts(value: unknown, level: number): unknown {
  if (typeof value === 'string') return value === '' ? '' : removed;
  if (typeof value !== 'object' || value === null) return value;
  if (level > maxLevels) return removed;
  if (Array.isArray(value)) return value.map((each) => removeTexts(each, level + 1));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, removeTexts(each, level + 1)]));
}
