/** Reading requests: what a message cannot say by its types alone. Each function throws INVALID_REQUEST. */
import { IpledgerError } from '../../../lib/errors.ts';
import type * as api from '../../../proto/ipledger.ts';
import { canonicalAddress } from '../domain/address.ts';
import type { IpFamily, Sandbox } from '../domain/command.ts';

const mostTextBytes = 1024;
/** Of one Pod. */
export const mostAttachments = 24;

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** A text that must be there. */
export function required(name: string, text: string | undefined): string {
  if (text === undefined || text === '') throw invalid(`${name} is missing`);
  return limited(name, text);
}

/** A text that may be empty. */
export function limited(name: string, text: string): string {
  if (Buffer.byteLength(text) > mostTextBytes) throw invalid(`${name} is longer than ${mostTextBytes} bytes`);
  return text;
}

/** A list that is not too long. */
export function atMost<Item>(name: string, most: number, items: readonly Item[]): readonly Item[] {
  if (items.length > most) throw invalid(`${name}: ${items.length} of them, at most ${most} are allowed`);
  return items;
}

/** A text that must be there and names something: no slash, space or control character, since keys are made of it. */
export function name(field: string, text: string | undefined): string {
  const found = required(field, text);
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[/\s\u0000-\u001f\u007f]/.test(found))
    throw invalid(`${field} ${JSON.stringify(found)} has a slash, a space or a control character`);
  return found;
}

/** A page size: 0 is the usual one, too large is cut to the largest. */
export const pageSize = (asked: number, usual: number, most: number): number =>
  asked === 0 ? usual : Math.min(asked, most);

/** One address without a mask, as canonical text. */
export function readAddress(text: string): string {
  const address = canonicalAddress(text);
  if (!address)
    throw invalid(`failed to parse IP ${text}: invalid IP address "${text}"; write one address without a mask`);
  return address;
}

/** "ipv4", "ipv6", or "" for all families that there are. */
export function readIpFamily(text: string): IpFamily {
  if (text === '' || text === 'ipv4' || text === 'ipv6') return text;
  throw new IpledgerError('IP_FAMILY_INVALID', `InvalidIPFamily: ${text} is not a valid ip_family: it is ipv4 or ipv6`);
}

/** An instant in RFC 3339, as milliseconds since 1970; undefined for ''. */
export function readInstant(name: string, text: string): number | undefined {
  if (text === '') return undefined;
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw invalid(`${name} is no instant: ${JSON.stringify(text)}; write it as 2026-11-17T14:05:00Z`);
  return at;
}

/** What names a sandbox in requests. */
type SandboxRequest = Pick<api.BindRequest, 'namespace' | 'pod' | 'podUid' | 'provider' | 'containerId' | 'interface'>;

/** @throws IpledgerError INVALID_REQUEST */
export function readSandbox(request: SandboxRequest): Sandbox {
  return {
    namespace: name('namespace', request.namespace),
    pod: name('pod', request.pod),
    uid: name('pod_uid', request.podUid),
    provider: name('provider', request.provider),
    containerId: name('container_id', request.containerId),
    interface: name('interface', request.interface),
  };
}
