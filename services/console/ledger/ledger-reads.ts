/**
 * The reads of the views: from the allocators for the present, from the read model for the past and
 * for lists. Viewers share the reads, so that the number of viewers adds no load.
 */
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { type LedgerClient, requirePosition } from '../../../lib/ledger-client/ledger-client.ts';
import {
  type GetStatusReply,
  LedgerService,
  type ListPoolsReply,
  type ListSubnetsReply,
  type ListUsageReply,
  type MapAddressesReply,
  SubnetsService,
  ViewsService,
} from '../../../proto/generated/ipledger.ts';
import type { ReplyPosition } from '../api/page.ts';
import { shareByKey, shareFor } from './share.ts';

/** The age of a read of the present, and of a page with it. */
const presentMs = 1_000;
const usageMs = 10_000;
/** The age of a map of the past, which does not change. The events around it do. */
const pastMs = 5_000;
/** The number of cached maps. A map of a million addresses takes 16 MB. */
const maxMaps = 8;

export interface MapKey {
  readonly subnet: string;
  readonly family: 4 | 6;
  /** The event; 0 if the map is not chosen by event. */
  readonly seq: number;
  readonly at: string;
  /** The address whose neighbouring events the map names; '' for those of the Subnet. */
  readonly address: string;
}

export interface LedgerReads {
  readonly allocator: LedgerClient;
  readonly readModel: LedgerClient;
  readonly subnets: () => Promise<ListSubnetsReply>;
  readonly pools: () => Promise<ListPoolsReply>;
  readonly status: () => Promise<GetStatusReply>;
  /** Usage of all Subnets in the last two days. Empty while the read model does not answer. */
  readonly recentUsage: () => Promise<Pick<ListUsageReply, 'usage'>>;
  readonly map: (key: MapKey) => Promise<MapAddressesReply>;
  /** Why the read model does not answer; undefined if it does. */
  readonly readModelFault: () => Promise<string | undefined>;
}

const local = { consistency: 'CONSISTENCY_LOCAL' } as const;

export function createLedgerReads(allocator: LedgerClient, readModel: LedgerClient): LedgerReads {
  const readMap = (key: string): Promise<MapAddressesReply> => {
    const { subnet, family, seq, at, address } = JSON.parse(key) as MapKey;
    return readModel.call(ViewsService.mapAddresses, { subnet, family, address, pointInTime: { seq, at } });
  };
  const isPast = (key: string): boolean => (JSON.parse(key) as MapKey).seq > 0;
  const map = shareByKey(maxMaps, (key) => (isPast(key) ? pastMs : presentMs), readMap);
  const probeReadModel = (): Promise<string | undefined> =>
    readModel.call(LedgerService.history, { pageSize: 1 }).then(() => undefined, errorMessage);
  return {
    allocator,
    readModel,
    subnets: shareFor(presentMs, () => allocator.call(SubnetsService.listSubnets, local)),
    pools: shareFor(presentMs, () => allocator.call(SubnetsService.listPools, local)),
    status: shareFor(presentMs, () => allocator.call(LedgerService.getStatus, {})),
    recentUsage: shareFor(usageMs, () => readModel.call(ViewsService.listUsage, { hours: 48 }).catch(emptyIfAway)),
    readModelFault: shareFor(presentMs, probeReadModel),
    map: ({ subnet, family, seq, at, address }) => map(JSON.stringify({ subnet, family, seq, at, address })),
  };
}

function emptyIfAway(thrown: unknown): Pick<ListUsageReply, 'usage'> {
  if (IpledgerError.from(thrown).kind !== 'transient') throw thrown;
  return { usage: [] };
}

export function positionOf({ position }: { readonly position?: Parameters<typeof requirePosition>[0] }): ReplyPosition {
  const { epoch, seq } = requirePosition(position);
  return { epoch, seq };
}
