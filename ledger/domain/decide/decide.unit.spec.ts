import { expect } from 'chai';
import type { Command } from '../commands/command.ts';
import { allocate } from '../testing/event-fixtures.ts';
import type { ReleaseCause } from '../values/allocation.ts';
import { isCommandAllowedWhileFrozen } from './decide.ts';

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
