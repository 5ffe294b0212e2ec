/** Reads request fields: names, addresses and page tokens. Each function throws INVALID_REQUEST. */
import { IpledgerError } from '../../../lib/errors.ts';
import { requireField } from '../../../lib/grpc/server/read-request.ts';
import { escapeUnprintable, isPrintable } from '../../../lib/unprintable.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import { proposeForm } from '../../../ledger/domain/addresses/address-form.ts';
import type { BindingPlace } from '../../../ledger/domain/queries/list-bindings.ts';
import type { IpFamily, Sandbox } from '../../../ledger/domain/commands/command.ts';
import { isId, isInterface, isNamespace, isObjectName, isProvider } from '../../../ledger/domain/commands/names.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/**
 * Reads a required name that need not exist, or that an earlier version recorded. A slash, space or
 * control character is never part of a name.
 */
export function readName(field: string, text: string | undefined): string {
  const found = requireField(field, text);
  if (/[/\s]/.test(found) || !isPrintable(found))
    throw invalid(`${field} "${escapeUnprintable(found)}" has a slash, a space or a control character: remove it`);
  return found;
}

/** Reads a name that will enter the ledger. It may be '' unless `readRequired` reads it. */
type NameReader = (field: string, text: string) => string;

const reader =
  (isValid: (text: string) => boolean, rule: string): NameReader =>
  (field, text) => {
    if (text !== '' && !isValid(text)) throw invalid(`${field} "${escapeUnprintable(text)}" is not valid: ${rule}`);
    return text;
  };

export const readNamespace = reader(isNamespace, 'a namespace has lower-case letters, digits and "-"');
export const readObjectName = reader(isObjectName, 'a name has lower-case letters, digits, "-" and "."');
export const readProvider = reader(
  isProvider,
  'a provider is <network>.<namespace>, with .ovn for a Kube-OVN NIC, or ovn',
);
export const readId = reader(isId, 'an id has letters, digits, "-", "_", "." and ":"');
export const readInterface = reader(isInterface, 'no network interface can have this name');
/** Reads a text that is only compared, such as the owner of a reservation or a boot id. */
export const readPrintable = reader(isPrintable, 'it has a control character');

export const readRequired = (read: NameReader, field: string, text: string | undefined): string =>
  read(field, requireField(field, text));

/** Reads the Kubernetes object that a Subnet or pool comes from. */
export const readSource = (source: api.SourceObject | undefined): api.SourceObject | undefined =>
  source && { ...source, uid: readId('source.uid', source.uid) };

/** Reads one address without a mask, and returns its canonical text. */
export function readAddress(text: string): string {
  const address = canonicalAddress(text);
  if (!address)
    throw invalid(
      `failed to parse IP ${text}: invalid IP address "${text}"${proposeForm(text, 'address') || '; write one address without a mask'}`,
    );
  return address;
}

/** Reads "ipv4", "ipv6", or "" for all families of the Subnet. */
export function readIpFamily(text: string): IpFamily {
  if (text === '' || text === 'ipv4' || text === 'ipv6') return text;
  throw new IpledgerError('IP_FAMILY_INVALID', `InvalidIPFamily: ${text} is not a valid ip_family: it is ipv4 or ipv6`);
}

/** The token of ListReservations: the last name ("subnet/address") of the page before; or ''. */
export function readNameToken(token: string): string {
  if (token !== '' && token.split('/').length !== 2)
    throw invalid(`page_token "${token}" is not from a reply: omit it to read the first page`);
  return token;
}

/**
 * The token of ListBindings: the sort key of the last binding. The node is last, because its name
 * may contain any character.
 */
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
    containerId: readRequired(readId, 'container_id', request.containerId),
    interface: readRequired(readInterface, 'interface', request.interface),
  };
}
