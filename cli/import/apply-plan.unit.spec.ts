import { expect } from 'chai';
import { IpledgerError, type ErrorCode } from '../../lib/errors.ts';
import { IpamService } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { applyPlan } from './apply-plan.ts';
import { createAttachment } from './observed-attachment.ts';

const holder = { namespace: 'default', name: 'web', uid: 'u-1', node: 'node-1', owner: undefined };
const attachmentOf = (provider: string, address: string) =>
  createAttachment(holder, {
    provider: `${provider}.default`,
    ordinal: 0,
    subnet: provider,
    addresses: [address],
    mac: '',
    interface: '',
  });

/** Imports a Pod that the ledger rejects. Returns the quarantined addresses. */
async function importRejected(code: ErrorCode, { held = '', reserved = '' } = {}): Promise<string[]> {
  const quarantined: string[] = [];
  const allocator = {
    call: (method: { readonly path: string }, request: { readonly address: string }) => {
      if (method.path === IpamService.allocate.path) throw new IpledgerError(code, 'rejected');
      if (method.path === IpamService.quarantine.path) quarantined.push(request.address);
      return Promise.resolve({
        allocations: held === '' ? [] : [{ subnet: 'lan', addresses: [{ address: held }] }],
        records: reserved === '' ? [] : [{ subnet: 'lan', address: reserved }],
        nextPageToken: '',
      });
    },
  } as unknown as LedgerClient;
  const attachments = [attachmentOf('lan', '10.0.0.2'), attachmentOf('lan2', '10.1.0.2')];
  const plan = { subnets: [], pools: [], attachments, reservations: [], leftovers: [], foreign: [], quarantines: [] };
  const rejected = await applyPlan(plan, { allocator, kubernetes: {} as never });
  expect(rejected.map(({ where }) => where)).to.deep.equal(['Pod default/web']);
  return quarantined.toSorted();
}

describe('A Pod that the ledger rejects in an import', () => {
  it('A Pod that the ledger rejects in an import leaves no address of its containers free when another Pod has one of its addresses', async () => {
    expect(await importRejected('ADDRESS_IN_USE', { held: '10.0.0.2' })).to.deep.equal(['10.1.0.2']);
  });

  it('A Pod that the ledger rejects in an import leaves no address free that a binding holds only until it ends', async () => {
    expect(await importRejected('ADDRESS_IN_USE')).to.deep.equal(['10.0.0.2', '10.1.0.2']);
  });

  it('A Pod that the ledger rejects in an import does not quarantine an address that is reserved for another owner', async () => {
    expect(await importRejected('ADDRESS_RESERVED', { reserved: '10.0.0.2' })).to.deep.equal(['10.1.0.2']);
  });

  it('A Pod that the ledger rejects in an import has all its addresses quarantined when the request itself is refused', async () => {
    expect(await importRejected('ADDRESS_OUT_OF_RANGE', { held: '10.0.0.2' })).to.deep.equal(['10.0.0.2', '10.1.0.2']);
  });
});
