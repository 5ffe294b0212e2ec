/** Compares the address maps of the read model with the allocator's fold of the log. */
import { expect } from 'chai';
import { stream } from '../../lib/grpc/client.ts';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import {
  type AddressRecord,
  type Event,
  LedgerService,
  type MapAddressesReply,
  type MapAddressesRequest,
} from '../../proto/generated/ipledger.ts';
import type { ServedAllocator } from '../../services/allocator/grpc/testing/served-allocator.ts';
import type { ReadModel } from '../../services/read-model/read-model.ts';
import { addressOfKey } from '../../services/read-model/store/address-key.ts';
import { viewsHandlers } from '../../services/read-model/views-service.ts';

const never = new AbortController().signal;

const stateOf: Readonly<Record<string, string>> = {
  allocated: 'MAP_STATE_ALLOCATED',
  bound: 'MAP_STATE_BOUND',
  held: 'MAP_STATE_RESTING',
  reserved: 'MAP_STATE_RESERVED',
  quarantined: 'MAP_STATE_QUARANTINED',
};

/** Formats "address state" for each address of a map. */
export const mapEntries = ({ ipv4, ipv6, states }: MapAddressesReply): string[] =>
  [...ipv4.map(addressOfKey), ...ipv6].map((address, index) => `${address} ${states[index]}`);

export async function readMap(
  model: ReadModel,
  request: MessageInput<MapAddressesRequest>,
): Promise<MapAddressesReply> {
  const complete = decode('MapAddressesRequest', encode('MapAddressesRequest', request)) as MapAddressesRequest;
  const reply = await viewsHandlers(model).mapAddresses(complete, { actor: 'anonymous', signal: never });
  return decode('MapAddressesReply', encode('MapAddressesReply', reply)) as MapAddressesReply;
}

/** Compares the maps at each event and in each Subnet. Allocators list no address in cooldown. */
export async function expectSameMaps(
  served: ServedAllocator,
  model: ReadModel,
  events: readonly Event[],
  first = 1,
): Promise<void> {
  for (const { seq } of events.filter((each) => each.seq >= first && each.part === each.parts)) {
    const request = { pointInTime: { seq } };
    const records: AddressRecord[] = [];
    for await (const page of stream(served.client, LedgerService.stateAt, request, {
      silenceMs: 20_000,
      signal: never,
    }))
      records.push(...page.records);
    for (const subnet of new Set(
      events.slice(0, seq).flatMap((each) => (each.subnetConfigured ? [each.subnet] : [])),
    )) {
      const expected = records.filter((each) => each.subnet === subnet);
      const found = mapEntries(await readMap(model, { subnet, family: 4, ...request }));
      const known = new Set(expected.map(({ address }) => address));
      const inCooldown = found.filter((entry) => !known.has(entry.split(' ')[0] ?? ''));
      expect(inCooldown.filter((entry) => !entry.endsWith('RESTING'))).to.deep.equal([]);
      expect(
        found.filter((entry) => !inCooldown.includes(entry)),
        `${subnet} at ${seq}`,
      ).to.deep.equal(expected.map(({ address, state }) => `${address} ${stateOf[state]}`));
    }
  }
}
