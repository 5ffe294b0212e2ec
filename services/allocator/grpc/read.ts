/** Reading requests: names, addresses and page tokens. Each function throws INVALID_REQUEST. */
import { IpledgerError } from '../../../lib/errors.ts';
import { required } from '../../../lib/serving/read.ts';
import type * as api from '../../../proto/ipledger.ts';
import { canonicalAddress } from '../domain/address.ts';
import type { IpFamily, Sandbox } from '../domain/command.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** A text that must be there and names something: no slash, space or control character, since keys are made of it. */
export function name(field: string, text: string | undefined): string {
  const found = required(field, text);
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[/\s\u0000-\u001f\u007f]/.test(found))
    throw invalid(`${field} ${JSON.stringify(found)} has a slash, a space or a control character`);
  return found;
}

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

/** Where a page of a list by names ("subnet/address", "container/interface") begins: behind this one; '' at the first. */
export function readNameToken(token: string): string {
  if (token !== '' && token.split('/').length !== 2)
    throw invalid(`page_token "${token}" is not one that a reply gave`);
  return token;
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
