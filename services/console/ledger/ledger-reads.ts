/**
 * The reads of the views: from the allocators for the present, from the read model for the past and
 * for lists. Viewers share the reads, so that the number of viewers adds no load.
 */
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { type LedgerClient, requirePosition } from '../../../lib/ledger-client/ledger-client.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import {
  type AddressRecord,
  type GetStatusReply,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  LedgerService,
  type ListPoolsReply,
  type ListSubnetsReply,
  type ListUsageReply,
  type MapAddressesReply,
  type Quarantine,
  type QuarantinedAddress,
  SubnetsService,
  ViewsService,
} from '../../../proto/generated/ipledger.ts';
import type { ReplyPosition } from '../api/page.ts';
import { SharedReads, shareFor } from './share.ts';

/** The age of a read of the present, and of a page with it. */
const presentMs = 1_000;
const usageMs = 10_000;
/** The age of a map of the past, which does not change. The events around it do. */
const pastMs = 5_000;
/** The number of cached maps. A map of a million addresses takes 16 MB. */
const maxMaps = 8;
const maxAddresses = 100;
/** The quarantines that are read from the allocator for the list of alarms. */
const maxDescribed = 16;
/**
 * The calls in progress. A map blocks the read model, and each event of an address is a read of
 * etcd. All requests in progress may wait.
 */
const [maxMapCalls, maxAddressCalls, maxWaiting] = [2, 8, 512];
/** The limit for the events of an address on a page. */
export const maxAddressEvents = 50;

export interface MapKey {
  readonly subnet: string;
  readonly family: 4 | 6;
  /** The event; 0 if the map is not chosen by event. */
  readonly seq: number;
  /** The instant, RFC 3339 in one spelling; '' for now, and beside `seq`. */
  readonly at: string;
}

export interface MomentsKey extends Pick<MapKey, 'subnet' | 'family' | 'seq'> {
  readonly address: string;
}

export type DescribedQuarantine = QuarantinedAddress & { readonly quarantine?: Quarantine | undefined };

export interface LedgerReads {
  readonly allocator: LedgerClient;
  readonly readModel: LedgerClient;
  readonly subnets: () => Promise<ListSubnetsReply>;
  readonly pools: () => Promise<ListPoolsReply>;
  readonly status: () => Promise<GetStatusReply>;
  /**
   * Usage of all Subnets in the last two days, and quarantined addresses. Empty while the read
   * model does not answer.
   */
  readonly recentUsage: () => Promise<Pick<ListUsageReply, 'usage' | 'quarantined'>>;
  /** Quarantined addresses, the first ones with MAC, node and reason. */
  readonly quarantines: () => Promise<readonly DescribedQuarantine[]>;
  readonly map: (key: MapKey, signal: AbortSignal) => Promise<MapAddressesReply>;
  /** The events of an address before and after an event. */
  readonly moments: (key: MomentsKey, signal: AbortSignal) => Promise<MapAddressesReply>;
  /** The events of an address, for which the allocator follows the links of the log. */
  readonly history: (request: MessageInput<HistoryRequest>, signal: AbortSignal) => Promise<HistoryReply>;
  /** The states of an address in Subnets. */
  readonly records: (
    address: string,
    subnets: readonly string[],
    signal: AbortSignal,
  ) => Promise<readonly AddressRecord[]>;
  /** Reads the next pages of addresses again, as after a change. */
  readonly forgetAddresses: () => void;
  /** Why the read model does not answer; undefined if it does. */
  readonly readModelFault: () => Promise<string | undefined>;
}

const local = { consistency: 'CONSISTENCY_LOCAL' } as const;

export function createLedgerReads(allocator: LedgerClient, readModel: LedgerClient): LedgerReads {
  const limited = createSemaphore(maxMapCalls, maxWaiting);
  const isPast = (key: string): boolean => {
    const { seq, at } = JSON.parse(key) as MapKey;
    return seq > 0 || at !== '';
  };
  const maps = new SharedReads<MapAddressesReply>({
    maxKept: maxMaps,
    maxAgeMs: (key) => (isPast(key) ? pastMs : presentMs),
    limited,
  });
  const ofAddress = { maxKept: maxAddresses, maxAgeMs: () => presentMs };
  const limitedAddresses = createSemaphore(maxAddressCalls, maxWaiting);
  const moments = new SharedReads<MapAddressesReply>({ ...ofAddress, limited });
  const histories = new SharedReads<HistoryReply>({ ...ofAddress, limited: limitedAddresses });
  const records = new SharedReads<readonly AddressRecord[]>({ ...ofAddress, limited: limitedAddresses });
  const probeReadModel = (): Promise<string | undefined> =>
    readModel.call(LedgerService.history, { pageSize: 1 }).then(() => undefined, errorMessage);
  const recentUsage = shareFor(usageMs, () => readModel.call(ViewsService.listUsage, { hours: 48 }).catch(emptyIfAway));
  return {
    allocator,
    readModel,
    subnets: shareFor(presentMs, () => allocator.call(SubnetsService.listSubnets, local)),
    pools: shareFor(presentMs, () => allocator.call(SubnetsService.listPools, local)),
    status: shareFor(presentMs, () => allocator.call(LedgerService.getStatus, {})),
    recentUsage,
    quarantines: shareFor(usageMs, async () => describeQuarantines(allocator, (await recentUsage()).quarantined)),
    readModelFault: shareFor(presentMs, probeReadModel),
    map: ({ subnet, family, seq, at }, signal) =>
      maps.read(JSON.stringify({ subnet, family, seq, at }), signal, (shared) =>
        readModel.call(ViewsService.mapAddresses, { subnet, family, pointInTime: { seq, at } }, shared),
      ),
    moments: ({ subnet, family, seq, address }, signal) =>
      moments.read(JSON.stringify({ subnet, family, seq, address }), signal, (shared) => {
        const request = { subnet, family, address, onlyMoments: true, pointInTime: { seq } };
        return readModel.call(ViewsService.mapAddresses, request, shared);
      }),
    history: (request, signal) =>
      histories.read(JSON.stringify(request), signal, (shared) =>
        allocator.call(LedgerService.history, request, shared),
      ),
    records: (address, names, signal) =>
      records.read(JSON.stringify([address, ...names]), signal, (shared) =>
        readRecords(allocator, address, names, shared),
      ),
    forgetAddresses: () => {
      histories.forgetAll();
      records.forgetAll();
    },
  };
}

/**
 * Reads MAC, node and reason of the first quarantined addresses. A failed read hides no quarantine.
 */
async function describeQuarantines(
  allocator: LedgerClient,
  quarantined: readonly QuarantinedAddress[],
): Promise<readonly DescribedQuarantine[]> {
  const read = ({ subnet, address }: QuarantinedAddress) =>
    allocator.call(IpamService.getAddress, { subnet, address, ...local }).catch(() => undefined);
  const replies = await Promise.all(quarantined.slice(0, maxDescribed).map(read));
  return quarantined.map((each, index) => ({ ...each, quarantine: replies[index]?.record?.quarantine }));
}

async function readRecords(
  allocator: LedgerClient,
  address: string,
  subnets: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressRecord[]> {
  const read = (subnet: string) =>
    allocator.call(IpamService.getAddress, { subnet, address, ...local }, signal).catch(undefinedIfUnknown);
  const found = await Promise.all(subnets.map(read));
  return found.flatMap((reply) => reply?.record ?? []);
}

/** Returns undefined for the addresses of network and broadcast, which no host can have. */
function undefinedIfUnknown(thrown: unknown): undefined {
  const { code } = IpledgerError.from(thrown);
  if (code !== 'ADDRESS_UNKNOWN' && code !== 'SUBNET_UNKNOWN') throw thrown;
}

function emptyIfAway(thrown: unknown): Pick<ListUsageReply, 'usage' | 'quarantined'> {
  if (IpledgerError.from(thrown).kind !== 'transient') throw thrown;
  return { usage: [], quarantined: [] };
}

export function positionOf({ position }: { readonly position?: Parameters<typeof requirePosition>[0] }): ReplyPosition {
  const { epoch, seq } = requirePosition(position);
  return { epoch, seq };
}
