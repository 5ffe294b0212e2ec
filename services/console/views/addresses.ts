/** The page of an address: its state in each Subnet, and its history. */
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { cidrContains } from '../../../lib/net/ip.ts';
import type { AddressRecord } from '../../../proto/generated/ipledger.ts';
import type { AddressPage } from '../api/address.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, maxAddressEvents, positionOf } from '../ledger/ledger-reads.ts';
import { addressState } from '../rows/allocation-row.ts';
import { ipledger } from '../rows/command.ts';
import { eventRow } from '../rows/event-row.ts';

/** The most states of an address. More Subnets are unusual: `subnet` selects the state. */
const maxStates = 16;

export function showAddress(reads: LedgerReads): View {
  return async ({ params: { address: text = '' }, query, signal }) => {
    const address = canonicalAddress(text);
    if (address === undefined) throw new IpledgerError('INVALID_REQUEST', `${JSON.stringify(text)} is no address`);
    const [subnet, page, pageSize] = [query.text('subnet'), query.page(), query.limit(maxAddressEvents)];
    const states = page === '' ? await readStates(reads, address, subnet, signal) : [];
    const history = await reads
      .history({ address, subnet, pageSize, pageToken: page }, signal)
      .catch(emptyIfUnused(states));
    const body: AddressPage = {
      position: positionOf(history ?? (await reads.status())),
      command: ipledger(['history', address], { subnet }),
      address,
      states: states.map(addressState),
      items: history?.events.map(eventRow) ?? [],
      nextPage: history?.nextPageToken ?? '',
    };
    return { body };
  };
}

async function readStates(
  reads: LedgerReads,
  address: string,
  subnet: string,
  signal: AbortSignal,
): Promise<readonly AddressRecord[]> {
  const { subnets } = await reads.subnets();
  const names = subnets
    .filter(
      ({ name, spec }) =>
        (subnet === '' || name === subnet) && spec?.cidrBlock.split(',').some((cidr) => cidrContains(cidr, address)),
    )
    .map(({ name }) => name);
  return reads.records(address, names.slice(0, maxStates), signal);
}

/** Returns an empty history for an address that was never used, which has a state. */
const emptyIfUnused =
  (states: readonly AddressRecord[]) =>
  (thrown: unknown): undefined => {
    if (IpledgerError.from(thrown).code !== 'ADDRESS_UNKNOWN' || states.length === 0) throw thrown;
  };
