/**
 * What the views read: of the allocators for the present, of the read model for the past and for
 * lists. Viewers share the reads, so their number costs neither anything.
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

/** Also how old a page of the present may be. */
const presentMs = 1_000;
const usageMs = 10_000;
/** A map of the past does not change, but the events around it do. */
const pastMs = 5_000;
/** A map of a million addresses takes 16 MB. */
const maxMaps = 8;

export interface MapKey {
  readonly subnet: string;
  readonly family: 4 | 6;
  /** 0: not by number. */
  readonly seq: number;
  readonly at: string;
  /** Whose neighbours it names; '' for the Subnet. */
  readonly address: string;
}

export interface LedgerReads {
  readonly allocator: LedgerClient;
  readonly readModel: LedgerClient;
  readonly subnets: () => Promise<ListSubnetsReply>;
  readonly pools: () => Promise<ListPoolsReply>;
  readonly status: () => Promise<GetStatusReply>;
  /** Of all Subnets, in the last two days. Empty while the read model does not answer. */
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
