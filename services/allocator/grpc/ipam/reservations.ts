/** The Ipam handlers for addresses without Pods: reservations and quarantines. */
import type * as api from '../../../../proto/generated/ipledger.ts';
import { type IpamService } from '../../../../proto/generated/ipledger.ts';
import type { IpFamily } from '../../../../ledger/domain/commands/command.ts';
import { reservedAddressesFor } from '../../../../ledger/domain/decide/rules/entitlement.ts';
import { matchesIpFamily } from '../../../../ledger/domain/decide/rules/ip-family.ts';
import { familyOf } from '../../../../ledger/domain/addresses/address.ts';
import { claimKey } from '../../../../ledger/domain/state/claim.ts';
import {
  addressRecord,
  listReservations as pageOfReservations,
  maxClaimsPerPage,
} from '../../../../ledger/domain/queries/queries.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { submitCommand, runQuery } from '../run-query.ts';
import { positionMessage, addressRecordMessage } from '../messages.ts';
import { countFitting } from '../../../../lib/net/page-size.ts';
import { resolvePageSize, requireField } from '../../../../lib/grpc/server/read-request.ts';
import { readName, readAddress, readIpFamily, readNameToken, readPrintable, readRequired } from '../read-request.ts';
import { escapeUnprintable } from '../../../../lib/unprintable.ts';
import type { CallContext, Handlers } from '../../../../lib/grpc/server/serve.ts';

type ReservationMethod = 'reserve' | 'unreserve' | 'listReservations' | 'quarantine' | 'unquarantine';

export function reservationHandlers(
  allocator: AllocatorContext,
): Pick<Handlers<typeof IpamService>, ReservationMethod> {
  return {
    reserve: (request, context) => reserve(allocator, request, context),
    unreserve: (request, context) => unreserve(allocator, request, context),
    listReservations: (request, context) => listReservations(allocator, request, context),
    quarantine: (request, context) => quarantine(allocator, request, context),
    unquarantine: (request, context) => unquarantine(allocator, request, context),
  };
}

async function reserve(allocator: AllocatorContext, request: api.ReserveRequest, context: CallContext) {
  const fields = {
    subnet: readName('subnet', request.subnet),
    addresses: request.addresses.map(readAddress),
    reservedFor: readRequired(readPrintable, 'reserved_for', request.reservedFor),
    ipFamily: readIpFamily(request.ipFamily),
  };
  const reason = escapeUnprintable(request.reason);
  const mac = escapeUnprintable(request.mac);
  const { answer, head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Reserve', now, ...fields, reason, mac }),
    (state, _events, now) =>
      findReserved(state, fields).map((address) => addressRecord(state, fields.subnet, address, now)),
  );
  return { position: positionMessage(head), records: answer.map(addressRecordMessage) };
}

interface ReserveFields {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly reservedFor: string;
  readonly ipFamily: IpFamily;
}

/** The addresses of the request, or the first reserved address of each family. */
function findReserved(state: State, fields: ReserveFields): string[] {
  const all = reservedAddressesFor(state, fields.subnet, fields.reservedFor).map(({ address }) => address);
  const isRequested = (address: string): boolean =>
    fields.addresses.length > 0
      ? fields.addresses.includes(address)
      : matchesIpFamily(familyOf(address), fields.ipFamily);
  return ([4, 6] as const).flatMap(
    (family) => all.find((address) => familyOf(address) === family && isRequested(address)) ?? [],
  );
}

async function unreserve(allocator: AllocatorContext, request: api.UnreserveRequest, context: CallContext) {
  const fields = {
    subnet: readName('subnet', request.subnet),
    addresses: request.addresses.map(readAddress),
    reservedFor: request.reservedFor,
    reason: escapeUnprintable(request.reason),
  };
  const { head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Unreserve', now, ...fields }),
    () => undefined,
  );
  return { position: positionMessage(head) };
}

async function listReservations(
  allocator: AllocatorContext,
  request: api.ListReservationsRequest,
  context: CallContext,
) {
  const filter = {
    ...(request.subnet !== '' && { subnet: request.subnet }),
    ...(request.reservedFor !== '' && { reservedFor: request.reservedFor }),
  };
  const page = {
    after: readNameToken(request.pageToken),
    size: resolvePageSize(request.pageSize, maxClaimsPerPage),
  };
  const read = (state: State, now: number) => {
    const { names, next } = pageOfReservations(state, filter, page);
    return { next, records: names.map(({ subnet, address }) => addressRecord(state, subnet, address, now)) };
  };
  const { answer, head } = await runQuery(allocator, context, read, request);
  const records = answer.records.slice(0, countFitting(answer.records));
  const last = records.at(-1);
  const next = last && records.length < answer.records.length ? claimKey(last) : answer.next;
  return { position: positionMessage(head), records: records.map(addressRecordMessage), nextPageToken: next };
}

async function quarantine(allocator: AllocatorContext, request: api.QuarantineRequest, context: CallContext) {
  const fields = {
    subnet: readName('subnet', request.subnet),
    address: readAddress(requireField('address', request.address)),
    seenMac: escapeUnprintable(request.seenMac),
    seenAt: escapeUnprintable(request.seenAt),
    reason: escapeUnprintable(request.reason),
  };
  const { head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Quarantine', now, ...fields }),
    () => undefined,
  );
  return { position: positionMessage(head) };
}

async function unquarantine(allocator: AllocatorContext, request: api.UnquarantineRequest, context: CallContext) {
  const fields = {
    subnet: readName('subnet', request.subnet),
    address: readAddress(requireField('address', request.address)),
    reason: escapeUnprintable(request.reason),
  };
  const { head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Unquarantine', now, ...fields }),
    () => undefined,
  );
  return { position: positionMessage(head) };
}
