import { expect } from 'chai';
import { findDisagreements, findLasting } from './find-disagreements.ts';
import { createCheckInput, describeDisagreements } from './testing/check-input.fixture.ts';

describe('The disagreements of a check input', () => {
  it('The disagreements of a check input are none if ledger and cluster agree', () => {
    expect(describeDisagreements({})).to.deep.equal([]);
  });

  it('The disagreements of a check input are only the freeze if the ledger is frozen', () => {
    const freeze = {
      known: { epoch: 1, seq: 50, hash: '' },
      reportedBy: 'ipledger://watcher',
      reportedAt: '',
      headAt: '',
    };
    expect(describeDisagreements({ freeze, allocations: [] })).to.deep.equal([
      'frozen: the ledger: etcd was restored from a backup: ipledger://watcher has seen event 50 of epoch 1, which the ledger lacks',
    ]);
  });

  it('The disagreements of a check input are only the reason if nothing can be written, such as a full etcd', () => {
    const obstacle = { reason: 'etcd-full', message: 'etcd is full. Run: etcdctl alarm disarm', since: '' };
    expect(describeDisagreements({ obstacle, allocations: [] })).to.deep.equal([
      'not writable: the ledger: etcd is full. Run: etcdctl alarm disarm',
    ]);
  });

  it('The disagreements of a check input last if two reads show them alike', () => {
    const [first, second, third] = findDisagreements(
      createCheckInput({ pods: [], ips: [], status: { v4usingIPs: 3 } }),
    );
    const firstRead = [{ ...(first as object), what: 'something else' }, second] as ReturnType<
      typeof findDisagreements
    >;
    expect(third).to.have.property('kind', 'Subnet status');
    expect(findLasting(findDisagreements(createCheckInput({ pods: [], ips: [] })), firstRead)).to.deep.equal([second]);
  });
});
