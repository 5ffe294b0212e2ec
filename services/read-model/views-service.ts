/** The handlers of Views: address maps, hourly usage, and search. */
import { IpledgerError } from '../../lib/errors.ts';
import { readInstant, requireField } from '../../lib/grpc/server/read-request.ts';
import type { Handlers } from '../../lib/grpc/server/serve.ts';
import { isAddress } from '../../lib/net/ip.ts';
import type { MessageInput } from '../../proto/codec.ts';
import type {
  ListUsageReply,
  ListUsageRequest,
  MapAddressesReply,
  MapAddressesRequest,
  MapState,
  Moment,
  PointInTime,
  SubnetSpec,
  ViewsService,
} from '../../proto/generated/ipledger.ts';
import type { ReadModel } from './read-model.ts';
import { stateBits } from './store/address-entry.ts';
import { type AddressKey, addressKey, addressOfKey, familyOfKey } from './store/address-key.ts';
import { firstSeqSince } from './store/event-search.ts';
import type { EventStore } from './store/event-store.ts';
import type { VisitClaim } from './store/map-query.ts';
import { hourMs } from './store/usage-rows.ts';

const maxAddresses = { 4: 1_000_000, 6: 250_000 } as const;
const maxHours = 2_400;
const minSearchLength = 2;
const maxQuarantined = 100;

/** Answers from the store without waiting for newer events: a console shows the position. */
export function viewsHandlers(
  model: Pick<ReadModel, 'store'>,
  now: () => number = Date.now,
): Handlers<typeof ViewsService> {
  return {
    mapAddresses: async (request) => mapAddresses(model.store, request, now),
    listUsage: async (request) => listUsage(model.store, request, now),
    search: async ({ text }) => {
      const { store } = model;
      if (text.length < minSearchLength)
        throw new IpledgerError('INVALID_REQUEST', `text is too short: write ${minSearchLength} characters or more`);
      return { position: store.position, hits: store.search(text) };
    },
  };
}

function mapAddresses(
  store: EventStore,
  request: MapAddressesRequest,
  now: () => number,
): MessageInput<MapAddressesReply> {
  const { family, address } = request;
  const name = requireField('subnet', request.subnet);
  if (family !== 4 && family !== 6) throw new IpledgerError('INVALID_REQUEST', `family is ${family}: use 4 or 6`);
  if (address !== '' && !isAddress(address))
    throw new IpledgerError('INVALID_REQUEST', `address is no address: ${JSON.stringify(address)}`);
  const [subnet = -1] = store.findKeys('subnets', { name }, 1);
  const { seq, at } = readMoment(store, request.pointInTime, now);
  const spec = specAt(store, { subnet, name, family }, seq);
  const cooling = firstSeqSince(store, at - (spec.cooldownMs ?? defaultCooldownMs) + 1);
  const [shown, states]: [AddressKey[], MapState[]] = [[], []];
  const show: VisitClaim = (ip, bits, last) => {
    const state = familyOfKey(ip) === family ? mapState(bits, last, cooling) : 'MAP_STATE_FREE';
    if (state === 'MAP_STATE_FREE') return;
    shown.push(ip);
    states.push(state);
  };
  if (!request.onlyMoments) store.maps.claims(subnet, seq, show);
  if (shown.length > maxAddresses[family])
    throw new IpledgerError(
      'OVERLOADED',
      `the map has more than ${maxAddresses[family]} addresses: use ipledger state`,
    );
  const { previous, next } = store.maps.neighbours(subnet, address === '' ? undefined : addressKey(address), seq);
  return {
    position: { ...store.position, seq, hash: store.hashOf(seq) },
    moment: { seq, at: new Date(at).toISOString() },
    spec,
    ...(family === 4 ? { ipv4: shown.map(Number) } : { ipv6: shown.map(addressOfKey) }),
    states,
    ...(previous !== undefined && { previous: momentOf(store, previous) }),
    ...(next !== undefined && { next: momentOf(store, next) }),
    first: momentOf(store, Math.max(store.firstSeq, store.maps.firstSpecSeq(subnet) ?? 0)),
    last: momentOf(store, store.position.seq),
  };
}

/** The default of the allocator: ledger/domain/commands/command.ts. */
const defaultCooldownMs = 60_000;

const momentOf = (store: EventStore, seq: number): Moment => ({
  seq,
  at: new Date(store.timeOf(seq)).toISOString(),
});

/** Reads the last event to include, and the time for which cooldowns are computed. */
function readMoment(
  store: EventStore,
  point: PointInTime | undefined,
  now: () => number,
): { readonly seq: number; readonly at: number } {
  const at = readInstant('at', point?.at ?? '');
  const requested = point?.seq ?? 0;
  if (at !== undefined && requested > 0) throw new IpledgerError('INVALID_REQUEST', 'set seq or at, not both');
  const start = store.mapsFromSeq;
  if (start === undefined)
    throw new IpledgerError(
      'POSITION_GONE',
      `the read model begins with event ${store.firstSeq}, and does not know what was allocated before: use ipledger state`,
    );
  const last = store.position.seq;
  if (requested > last) throw new IpledgerError('POSITION_GONE', `event ${requested} is after the last one, ${last}`);
  if (at !== undefined && at > Math.max(now(), store.timeOf(last)) + 1_000)
    throw new IpledgerError('INVALID_REQUEST', `at: ${new Date(at).toISOString()} is in the future`);
  const seq = requested > 0 ? requested : at === undefined ? last : firstSeqSince(store, at + 1) - 1;
  if (seq < start)
    throw new IpledgerError('POSITION_GONE', `the read model begins with event ${start}: choose a later time`);
  const { part, parts } = store.event(seq);
  const end = Math.min(last, seq + parts - part);
  return { seq: end, at: at ?? (requested > 0 ? store.timeOf(end) : Math.max(now(), store.timeOf(end))) };
}

interface MapSubject {
  readonly subnet: number;
  readonly name: string;
  readonly family: 4 | 6;
}

/** @throws IpledgerError SUBNET_UNKNOWN */
function specAt(store: EventStore, { subnet, name, family }: MapSubject, seq: number): SubnetSpec {
  const spec = store.maps.spec(subnet, seq);
  const hasFamily = spec?.cidrBlock.split(',').some((cidr) => cidr.includes(':') === (family === 6));
  if (spec && hasFamily) return spec;
  throw new IpledgerError('SUBNET_UNKNOWN', `subnet ${name} had no addresses of IPv${family} at event ${seq}`);
}

/** @param cooling the first event whose addresses, and those of later events, are in cooldown */
function mapState(state: number, last: number, cooling: number): MapState {
  const { known, allocated, reserved, quarantined, bound } = stateBits;
  if (state & allocated) return state & bound ? 'MAP_STATE_BOUND' : 'MAP_STATE_ALLOCATED';
  if (state & quarantined) return 'MAP_STATE_QUARANTINED';
  if (state & reserved) return 'MAP_STATE_RESERVED';
  if (state & bound) return 'MAP_STATE_RESTING';
  return state & known && last >= cooling ? 'MAP_STATE_RESTING' : 'MAP_STATE_FREE';
}

function listUsage(store: EventStore, request: ListUsageRequest, now: () => number): MessageInput<ListUsageReply> {
  const hours = Math.min(maxHours, request.hours);
  const since = Math.floor(now() / hourMs) - hours;
  const names = store.subnets(request.subnet);
  const usage = names.flatMap(({ id, name }) => {
    const rows = store.maps.usage(id, since);
    return [4, 6].flatMap((family) => {
      const own = rows.filter((row) => row.family === family);
      if (own.length === 0) return [];
      return [{ subnet: name, family, hours: own.map(({ hour }) => hour), inUse: own.map((row) => row.in_use) }];
    });
  });
  const quarantined = store.maps
    .quarantined(request.subnet, maxQuarantined)
    .map(({ subnet, ip, seq }) => ({ subnet, address: addressOfKey(ip), seq }));
  return { position: store.position, usage, quarantined };
}
