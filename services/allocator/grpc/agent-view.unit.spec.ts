import { expect } from 'chai';
import { errorCodes } from '../../../lib/errors.ts';
import { refusalVisibleTo } from './agent-view.ts';

/**
 * The refusals whose messages name no Pod, owner, container or node besides those of the request.
 */
const readable = [
  'ADDRESS_FENCED',
  'ADDRESS_OUT_OF_RANGE',
  'INVALID_REQUEST',
  'IP_FAMILY_INVALID',
  'NAMESPACE_NOT_ALLOWED',
  'NAMESPACE_QUOTA_EXCEEDED',
  'POOL_UNKNOWN',
  'PROVIDER_UNBOUND',
  'QUARANTINE_LIMIT',
  'RESERVATION_UNKNOWN',
  'SUBNET_FULL',
  'SUBNET_UNKNOWN',
];

describe('refusalVisibleTo', () => {
  const message = 'Pod default/holder of node-2 has it';
  const visibleTo = (ownNode: string | undefined, reason: string): boolean =>
    refusalVisibleTo(ownNode === undefined ? {} : { ownNode }, { reason, message }) === message;

  it('refusalVisibleTo returns the message to an agent only for refusals that name no other Pod, also of a newer version', () => {
    const reasons = [...errorCodes, 'REASON_OF_A_NEWER_VERSION'];
    expect(reasons.filter((reason) => visibleTo('node-1', reason)).toSorted()).to.deep.equal(readable);
    for (const reason of reasons)
      if (!readable.includes(reason))
        expect(refusalVisibleTo({ ownNode: 'node-1' }, { reason, message })).to.not.match(/holder|node-2/);
  });

  it('refusalVisibleTo returns each message to a caller without an own node', () => {
    expect(errorCodes.filter((reason) => !visibleTo(undefined, reason))).to.deep.equal([]);
  });
});
