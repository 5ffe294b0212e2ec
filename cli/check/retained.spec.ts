import { expect } from 'chai';
import { allocation, attachmentOf, type Parts, plain, told, web } from './picture.fixture.ts';

describe('checking members of a StatefulSet', () => {
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'uid-db' };
  const addresses = [{ address: '10.0.0.3', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
  const held = {
    ...allocation,
    seq: 9,
    mac: '',
    podUid: 'uid-db-1',
    owner,
    addresses,
    attachment: attachmentOf('db-1'),
  };
  const holders = (parts: Parts): string[] =>
    told({ allocations: [allocation, held], ...parts }).filter((line) => /^(holder gone|annotation)/.test(line));

  it('keep what they hold while they are away and will be back', () => {
    expect(holders({})).to.deep.equal([]);
    expect(holders({ pods: [web, { ...plain, name: 'db-1', identity: 'uid-new' }] })).to.deep.equal([]);
  });

  for (const [why, set] of [
    ['it counts that far no more', { replicas: 1 }],
    ['it counts from further on', { firstOrdinal: 2 }],
    ['it is another one', { uid: 'uid-other' }],
    ['it is being deleted', { deleting: true }],
  ] as const)
    it(`do not when ${why}`, () => {
      expect(holders({ set })).to.deep.equal([
        'holder gone: Pod default/db-1: holds 10.0.0.3 of subnet lan (lan.default, uid uid-db-1, event 9), and there is no such Pod',
      ]);
    });

  it('show what they hold when they are there', () => {
    const pod = { ...plain, name: 'db-1', identity: 'uid-db-1' };
    expect(holders({ pods: [web, pod] })[0]).to.contain('annotation: Pod default/db-1: annotation');
  });
});

describe('checking virtual machines', () => {
  const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'uid-vmi' };
  const held = { ...allocation, seq: 9, mac: '', podUid: 'uid-vmi', owner, attachment: attachmentOf('vm1') };
  const holders = (machines: readonly string[]): string[] =>
    told({ allocations: [held], ips: [], pods: [], machines }).filter((line) => line.startsWith('holder gone'));

  it('keep what they hold while they are stopped, and may be started again', () => {
    expect(holders(['default/vm1'])).to.deep.equal([]);
  });

  it('do not when they are gone, whoever else is called so elsewhere', () => {
    expect(holders(['other/vm1'])[0]).to.match(/^holder gone: Pod default\/vm1: holds /);
  });
});
