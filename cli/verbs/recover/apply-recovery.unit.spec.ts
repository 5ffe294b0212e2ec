import { expect } from 'chai';
import { type ErrorCode, IpledgerError } from '../../../lib/errors.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { createAttachment } from '../../import/observed-attachment.ts';
import { applyRecovery } from './apply-recovery.ts';
import type { RecoveryPlan } from './recovery-plan.ts';

const holder = { namespace: 'default', name: 'web', uid: 'u-1', node: 'node-1', owner: undefined };
const record = { provider: 'lan.default', ordinal: 0, interface: '', subnet: 'lan', addresses: ['10.0.0.2'], mac: '' };
const plan: RecoveryPlan = {
  subnets: [],
  pools: [],
  releases: [],
  staleBindings: [],
  imports: [createAttachment(holder, record)],
  conflicts: [],
  quarantines: [],
};

/** Applies the plan. Returns the calls in their order. @param refused the call that is refused */
async function apply(recovery: RecoveryPlan, refused = '', code: ErrorCode = 'INVALID_REQUEST'): Promise<string[]> {
  const calls: string[] = [];
  const allocator = {
    call: ({ path }: { readonly path: string }) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      calls.push(name);
      if (name === refused && (code === 'INVALID_REQUEST' || !calls.includes('wait for agents')))
        throw new IpledgerError(code, 'refused');
      return Promise.resolve({ allocations: [{ seq: 9, attachment: undefined }], records: [], nextPageToken: '' });
    },
  } as unknown as LedgerClient;
  const waitForAgents = (): Promise<void> => Promise.resolve(void calls.push('wait for agents'));
  const reason = {
    reason: 'restored',
    freezeFirst: false,
    comparedPosition: { epoch: 1, seq: 5, hash: '' },
    waitForAgents,
  };
  await applyRecovery(recovery, reason, { allocator, kubernetes: {} as never });
  return calls;
}

describe('A recovery', () => {
  it('A recovery ends the freeze after the agents had time to bind the containers of what it imported', async () => {
    expect(await apply(plan)).to.deep.equal(['Restore', 'Allocate', 'wait for agents', 'Unfreeze']);
  });

  it('A recovery ends the freeze also when a Pod is rejected, and quarantines its address before', async () => {
    expect(await apply(plan, 'Allocate')).to.deep.equal([
      'Restore',
      'Allocate',
      'Quarantine',
      'wait for agents',
      'Unfreeze',
    ]);
  });

  it('A recovery imports a Pod after the agents have ended the binding of the backup that holds its address, and gives them time to bind its container', async () => {
    expect(await apply(plan, 'Allocate', 'ADDRESS_IN_USE')).to.deep.equal([
      'Restore',
      'Allocate',
      'wait for agents',
      'Allocate',
      'wait for agents',
      'Unfreeze',
    ]);
  });
});
