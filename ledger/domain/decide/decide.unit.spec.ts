import { expect } from 'chai';
import type { Command } from '../commands/command.ts';
import { allocate, subnetConfigured } from '../testing/event-fixtures.ts';
import type { ReleaseCause } from '../values/allocation.ts';
import { foldEvents, given, startTime } from '../testing/given-when-then.ts';
import { decide, isCommandAllowedWhileFrozen } from './decide.ts';

describe('decide', () => {
  it('decide throws an error that is not a refusal, so that a bug is not reported as a rule of the ledger', () => {
    const bug = allocate('a', { candidates: [[undefined as unknown as string]] });
    expect(() => decide(foldEvents([subnetConfigured()]), { ...bug, now: startTime })).to.throw(TypeError);
  });

  it('CreateLedger names a ledger once, and never renames it', () => {
    const created = { type: 'LedgerCreated', subnet: '', data: { ledger: 'one' } } as const;
    given([]).when({ type: 'CreateLedger', ledger: 'one' }).then([created]);
    given([created]).when({ type: 'CreateLedger', ledger: 'two' }).thenNothingHappens();
  });

  it('RotateKey records the new key with the signature of the previous key', () => {
    const keys = { publicKey: 'new', keyId: 'id-new', previousKeyId: 'id-old', signature: 'by the old key' };
    given([])
      .when({ type: 'RotateKey', ...keys })
      .then([{ type: 'KeyRotated', subnet: '', data: keys }]);
  });
});

describe('While the ledger is frozen', () => {
  const isAllowed = (command: object): boolean => isCommandAllowedWhileFrozen({ now: 0, ...command } as Command);

  it('a frozen ledger decides only imports and releases by an operator, of the commands that change allocations', () => {
    expect(isAllowed(allocate('a'))).to.equal(false);
    expect(isAllowed({ ...allocate('a'), import: false })).to.equal(false);
    expect(isAllowed({ ...allocate('a'), import: true })).to.equal(true);
    const release = { type: 'Release', namespace: 'default', pod: 'a', uid: 'uid-a', evidence: '' };
    for (const cause of ['pod-deleted', 'pod-completed', 'detached', 'garbage-collected'] satisfies ReleaseCause[])
      expect(isAllowed({ ...release, cause }), cause).to.equal(false);
    expect(isAllowed({ ...release, cause: 'operator' })).to.equal(true);
  });

  it('a frozen ledger decides binds, unbinds and what takes addresses out of use, and nothing that makes them free or drops history', () => {
    const decided = [
      'Bind',
      'Unbind',
      'Reserve',
      'Quarantine',
      'ApplySubnet',
      'ApplyPool',
      'RestoreLedger',
      'CreateLedger',
    ];
    const others = ['Unreserve', 'Unquarantine', 'RetireSubnet', 'RetirePool', 'ReportConflict', 'DropClaims'];
    for (const type of decided) expect(isAllowed({ type }), type).to.equal(true);
    for (const type of [...others, 'SealSegment', 'DropHistory', 'RotateKey', 'TypeOfANewerVersion'])
      expect(isAllowed({ type }), type).to.equal(false);
  });
});
