/** Reserve, unreserve, release, quarantine and unquarantine, as the person who is signed in. */
import { IpledgerError } from '../../../lib/errors.ts';
import { isAddress } from '../../../lib/net/ip.ts';
import { asText } from '../../../lib/kubernetes/untyped-json.ts';
import { formatPodName, shortContainerId } from '../../../lib/ledger-text/texts.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { type AddressRecord, IpamService } from '../../../proto/generated/ipledger.ts';
import {
  actionKinds,
  type ActionKind,
  type ActionPreview,
  type ActionRequest,
  type ActionResult,
} from '../api/action.ts';
import type { Action } from '../http/routes.ts';
import { positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);
const maxReasonLength = 500;
const maxNameLength = 253;

/** @throws IpledgerError INVALID_REQUEST */
function readAction(body: Readonly<Record<string, unknown>>): Required<ActionRequest> {
  const kind = actionKinds.find((each) => each === body['kind']);
  if (!kind) throw invalid(`kind: use one of ${actionKinds.join(', ')}`);
  const text = (name: string, max: number): string => {
    const value = asText(body[name]).trim();
    if (value.length > max) throw invalid(`${name} has ${value.length} characters, and ${max} is the limit`);
    return value;
  };
  const [subnet, address] = [text('subnet', maxNameLength), text('address', 64)];
  const [reason, reservedFor] = [text('reason', maxReasonLength), text('reservedFor', maxReasonLength)];
  if (subnet === '') throw invalid('subnet is missing');
  if (!isAddress(address)) throw invalid(`address is no address: ${JSON.stringify(address)}`);
  const seq = body['allocationSeq'];
  const allocationSeq = typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
  return { kind, subnet, address, reason, reservedFor, allocationSeq };
}

async function readRecord(
  client: LedgerClient,
  { subnet, address }: Pick<ActionRequest, 'subnet' | 'address'>,
  signal: AbortSignal,
) {
  const reply = await client.call(IpamService.getAddress, { subnet, address }, signal);
  if (!reply.record) throw new IpledgerError('BUG', 'a reply of the allocator has no record');
  return { position: positionOf(reply), record: reply.record };
}

/** The effects of an action, by the address record. The allocator decides again in the end. */
interface Plan {
  readonly possible: boolean;
  readonly effects: readonly string[];
  readonly warnings?: readonly string[];
}

export const previewAction: Action = async ({ client, user }, body, signal) => {
  const action = readAction(body);
  const { position, record } = await readRecord(client, action, signal);
  const { possible, effects, warnings = [] } = plans[action.kind](record, action);
  const recorded = `The ledger records it under ${user}${action.reason === '' ? '' : `, with the reason "${action.reason}"`}.`;
  const preview: ActionPreview = {
    position,
    possible,
    effects: possible ? [...effects, recorded] : effects,
    warnings,
    command: commandOf(action),
    allocationSeq: record.allocation?.seq ?? 0,
  };
  return { body: preview };
};

const holderOf = ({ allocation }: AddressRecord): string => `Pod ${formatPodName(allocation?.attachment)}`;
const containersOf = ({ bindings }: AddressRecord): string[] =>
  bindings.map(
    ({ containerId, node }) =>
      `Container ${shortContainerId(containerId)} on node ${node} uses it, and keeps answering on it.`,
  );
const no = (...effects: string[]): Plan => ({ possible: false, effects });

const plans: Readonly<Record<ActionKind, (record: AddressRecord, action: Required<ActionRequest>) => Plan>> = {
  reserve: (record, { address, subnet, reservedFor }) => {
    if (reservedFor === '') return no('Write the owner that the address is for, as vip/web.');
    if (record.reservation?.reservedFor === reservedFor)
      return no(`${address} is reserved for ${reservedFor} already.`);
    if (record.reservation)
      return no(`${address} is reserved for ${record.reservation.reservedFor}. End that reservation first.`);
    if (record.quarantine)
      return no(`${address} is quarantined: ${record.quarantine.reason}. End the quarantine first.`);
    if (record.allocation)
      return no(`${holderOf(record)} has ${address}: only a reservation for that Pod is possible.`);
    return {
      possible: true,
      effects: [
        `${address} of subnet ${subnet} is reserved for ${reservedFor}: no Pod gets it, except one that requests it as that owner.`,
      ],
      warnings: containersOf(record),
    };
  },
  unreserve: (record, { address, subnet }) => {
    if (!record.reservation) return no(`${address} of subnet ${subnet} is not reserved.`);
    const effects = [`${address} of subnet ${subnet} is no longer reserved for ${record.reservation.reservedFor}.`];
    if (!record.allocation)
      return { possible: true, effects: [...effects, 'Another Pod can get it after the cooldown.'] };
    return { possible: true, effects: [...effects, `${holderOf(record)} keeps it until it ends.`] };
  },
  release: (record, { address, subnet }) => {
    const { allocation } = record;
    if (!allocation) return no(`${address} of subnet ${subnet} is not allocated: it is ${record.state}.`);
    const all = allocation.addresses.map((each) => each.address).join(' and ');
    const warnings = containersOf(record);
    return {
      possible: true,
      effects: [
        `${holderOf(record)} loses ${all} of subnet ${subnet}.`,
        warnings.length > 0
          ? 'No other Pod gets the address until the container has ended.'
          : 'Another Pod can get it after the cooldown.',
      ],
      warnings: [...warnings, 'A Pod that runs requests an address again, and may get the same one.'],
    };
  },
  quarantine: (record, { address, subnet }) => {
    if (record.quarantine) return no(`${address} of subnet ${subnet} is quarantined since ${record.quarantine.at}.`);
    const effects = [`No Pod gets ${address} of subnet ${subnet} until the quarantine ends.`];
    return {
      possible: true,
      effects,
      warnings: record.allocation ? [`${holderOf(record)} has it, and keeps it until it ends.`] : [],
    };
  },
  unquarantine: (record, { address, subnet }) =>
    record.quarantine
      ? {
          possible: true,
          effects: [`Pods can get ${address} of subnet ${subnet} again.`],
          warnings: [`It was quarantined: ${record.quarantine.reason}`],
        }
      : no(`${address} of subnet ${subnet} is not quarantined.`),
};

function commandOf({ kind, subnet, address, reason, reservedFor }: Required<ActionRequest>): string {
  return ipledger([kind, address], { subnet, ...(kind === 'reserve' && { for: reservedFor }), reason });
}

export const performAction: Action = async ({ client }, body, signal) => {
  const action = readAction(body);
  if (action.reason === '') throw invalid('reason is missing: the record keeps why you did it');
  const { subnet, address, reason, reservedFor } = action;
  const at = { subnet, address, reason };
  const result = (reply: Parameters<typeof positionOf>[0], text: string): { body: ActionResult } => ({
    body: { position: positionOf(reply), text },
  });
  switch (action.kind) {
    case 'reserve': {
      const reply = await client.call(
        IpamService.reserve,
        { subnet, addresses: [address], reservedFor, reason },
        signal,
      );
      return result(reply, `${address} of subnet ${subnet} is reserved for ${reservedFor}`);
    }
    case 'unreserve': {
      const reply = await client.call(IpamService.unreserve, { subnet, addresses: [address], reason }, signal);
      return result(reply, `${address} of subnet ${subnet} is not reserved any more`);
    }
    case 'quarantine':
      return result(
        await client.call(IpamService.quarantine, at, signal),
        `${address} of subnet ${subnet} is quarantined`,
      );
    case 'unquarantine':
      return result(
        await client.call(IpamService.unquarantine, at, signal),
        `${address} of subnet ${subnet} is not quarantined any more`,
      );
    case 'release':
      return { body: await release(client, action, signal) };
  }
};

/** Releases the allocation that the person has seen. A later allocation stays. */
async function release(
  client: LedgerClient,
  action: Required<ActionRequest>,
  signal: AbortSignal,
): Promise<ActionResult> {
  const { address, subnet, reason: evidence, allocationSeq } = action;
  const { record } = await readRecord(client, action, signal);
  const { allocation } = record;
  if (!allocation?.attachment || allocation.seq !== allocationSeq)
    throw new IpledgerError(
      'POD_SUPERSEDED',
      `${address} of subnet ${subnet} changed since you saw it: look at it again`,
    );
  const { namespace, pod } = allocation.attachment;
  const podUid = allocation.podUid;
  const cause = 'RELEASE_CAUSE_OPERATOR';
  const reply = await client.call(
    IpamService.release,
    { namespace, pod, podUid, cause, evidence, allocationSeq },
    signal,
  );
  const text =
    reply.released > 0 ? `${address} of subnet ${subnet} is released` : 'it was released, or passed on, before';
  return { position: positionOf(reply), text };
}
