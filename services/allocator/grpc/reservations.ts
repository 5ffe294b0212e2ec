/** The part of the Ipam service that is about addresses without Pods: reserved ones, and those that nobody may have. */
import type * as api from '../../../proto/ipledger.ts';
import { type IpamService } from '../../../proto/ipledger.ts';
import type { IpFamily } from '../domain/command.ts';
import { reservedIn } from '../domain/decide/entitlement.ts';
import { isOf } from '../domain/decide/family.ts';
import { familyOf } from '../domain/event.ts';
import { claimKey } from '../domain/journal.ts';
import { addressRecord, listReservations as pageOfReservations } from '../domain/questions.ts';
import type { State } from '../domain/state.ts';
import { type Allocator, command, question } from './allocator.ts';
import { positionOf, recordMessage } from './messages.ts';
import { countFitting } from '../../../lib/serving/page-bytes.ts';
import { pageSize, required } from '../../../lib/serving/read.ts';
import { name, readAddress, readIpFamily, readNameToken } from './read.ts';
import type { CallContext, Handlers } from '../../../lib/serving/serve.ts';

type Served = 'reserve' | 'unreserve' | 'listReservations' | 'quarantine' | 'lift';

/** Reserve, Unreserve, ListReservations, Quarantine and Lift. */
export function reservationHandlers(allocator: Allocator): Pick<Handlers<typeof IpamService>, Served> {
  return {
    reserve: (request, context) => reserve(allocator, request, context),
    unreserve: (request, context) => unreserve(allocator, request, context),
    listReservations: (request, context) => listReservations(allocator, request, context),
    quarantine: (request, context) => quarantine(allocator, request, context),
    lift: (request, context) => lift(allocator, request, context),
  };
}

async function reserve(allocator: Allocator, request: api.ReserveRequest, context: CallContext) {
  const asked = {
    subnet: name('subnet', request.subnet),
    addresses: request.addresses.map(readAddress),
    reservedFor: required('reserved_for', request.reservedFor),
    ipFamily: readIpFamily(request.ipFamily),
  };
  const { reason, mac } = request;
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Reserve', now, ...asked, reason, mac }),
    (state, _events, now) =>
      reservedFor(state, asked).map((address) => addressRecord(state, asked.subnet, address, now)),
  );
  return { position: positionOf(head), records: answer.map(recordMessage) };
}

interface Asked {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly reservedFor: string;
  readonly ipFamily: IpFamily;
}

/** The named ones; else the first of each family that is reserved for it. */
function reservedFor(state: State, asked: Asked): string[] {
  const all = reservedIn(state, asked.subnet, asked.reservedFor).map(({ address }) => address);
  const isMeant = (address: string): boolean =>
    asked.addresses.length > 0 ? asked.addresses.includes(address) : isOf(familyOf(address), asked.ipFamily);
  return ([4, 6] as const).flatMap(
    (family) => all.find((address) => familyOf(address) === family && isMeant(address)) ?? [],
  );
}

async function unreserve(allocator: Allocator, request: api.UnreserveRequest, context: CallContext) {
  const asked = {
    subnet: name('subnet', request.subnet),
    addresses: request.addresses.map(readAddress),
    reservedFor: request.reservedFor,
    reason: request.reason,
  };
  const { head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Unreserve', now, ...asked }),
    () => undefined,
  );
  return { position: positionOf(head) };
}

async function listReservations(allocator: Allocator, request: api.ListReservationsRequest, context: CallContext) {
  const filter = {
    ...(request.subnet !== '' && { subnet: request.subnet }),
    ...(request.reservedFor !== '' && { reservedFor: request.reservedFor }),
  };
  const page = { after: readNameToken(request.pageToken), size: pageSize(request.pageSize, 500, 1_000) };
  const read = (state: State, now: number) => {
    const { names, next } = pageOfReservations(state, filter, page);
    return { next, records: names.map(({ subnet, address }) => addressRecord(state, subnet, address, now)) };
  };
  const { answer, head } = await question(allocator, context, read, request);
  const records = answer.records.slice(0, countFitting(answer.records));
  const last = records.at(-1);
  const next = last && records.length < answer.records.length ? claimKey(last) : answer.next;
  return { position: positionOf(head), records: records.map(recordMessage), nextPageToken: next };
}

async function quarantine(allocator: Allocator, request: api.QuarantineRequest, context: CallContext) {
  const asked = {
    subnet: name('subnet', request.subnet),
    address: readAddress(required('address', request.address)),
    seenMac: request.seenMac,
    seenAt: request.seenAt,
    reason: request.reason,
  };
  const { head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Quarantine', now, ...asked }),
    () => undefined,
  );
  return { position: positionOf(head) };
}

async function lift(allocator: Allocator, request: api.LiftRequest, context: CallContext) {
  const asked = {
    subnet: name('subnet', request.subnet),
    address: readAddress(required('address', request.address)),
    reason: request.reason,
  };
  const { head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Lift', now, ...asked }),
    () => undefined,
  );
  return { position: positionOf(head) };
}
