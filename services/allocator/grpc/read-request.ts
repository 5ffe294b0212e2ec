/** Readers of request fields: names, addresses and page tokens. Each throws INVALID_REQUEST. */
import { IpledgerError } from '../../../lib/errors.ts';
import { requireField } from '../../../lib/grpc/server/read-request.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import type { BindingPlace } from '../../../ledger/domain/queries/list-bindings.ts';
import type { IpFamily, Sandbox } from '../../../ledger/domain/commands/command.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** A required name. etcd keys contain it, so a slash, a space or a control character is rejected. */
export function readName(field: string, text: string | undefined): string {
  const found = requireField(field, text);
  // oxlint-disable-next-line no-control-regex -- the pattern matches them
  if (/[/\s\u0000-\u001f\u007f]/.test(found))
    throw invalid(`${field} ${JSON.stringify(found)} has a slash, a space or a control character: remove it`);
  return found;
}

/** One address without a mask, as canonical text. */
export function readAddress(text: string): string {
  const address = canonicalAddress(text);
  if (!address)
    throw invalid(`failed to parse IP ${text}: invalid IP address "${text}"; write one address without a mask`);
  return address;
}

/** "ipv4", "ipv6", or "" for all families of the Subnet. */
export function readIpFamily(text: string): IpFamily {
  if (text === '' || text === 'ipv4' || text === 'ipv6') return text;
  throw new IpledgerError('IP_FAMILY_INVALID', `InvalidIPFamily: ${text} is not a valid ip_family: it is ipv4 or ipv6`);
}

/** The token of ListReservations: the last name ("subnet/address") of the page before; '' for none. */
export function readNameToken(token: string): string {
  if (token !== '' && token.split('/').length !== 2)
    throw invalid(`page_token "${token}" is not from a reply: omit it to read the first page`);
  return token;
}

/** The token of ListBindings: the place of the last binding. The name of a node is last, because it may contain anything. */
export const bindingToken = ({ alloc, sandbox, node }: BindingPlace): string => `${alloc}/${sandbox}/${node}`;

export function readBindingToken(token: string): BindingPlace | undefined {
  if (token === '') return undefined;
  const [, alloc, sandbox = '', node = ''] = /^([1-9]\d{0,15})\/([^/]+\/[^/]+)\/([^]*)$/.exec(token) ?? [];
  if (alloc === undefined) throw invalid(`page_token "${token}" is not from a reply: omit it to read the first page`);
  return { alloc: Number(alloc), sandbox, node };
}

/** The request fields that identify a sandbox. */
type SandboxRequest = Pick<api.BindRequest, 'namespace' | 'pod' | 'podUid' | 'provider' | 'containerId' | 'interface'>;

/** @throws IpledgerError INVALID_REQUEST */
export function readSandbox(request: SandboxRequest): Sandbox {
  return {
    namespace: readName('namespace', request.namespace),
    pod: readName('pod', request.pod),
    uid: readName('pod_uid', request.podUid),
    provider: readName('provider', request.provider),
    containerId: readName('container_id', request.containerId),
    interface: readName('interface', request.interface),
  };
}
