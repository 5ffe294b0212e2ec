import { expect } from 'chai';
import { findDisagreements, findLasting } from './find-disagreements.ts';
import {
  type CheckInputParts,
  createCheckInput,
  describeDisagreements,
  ip,
  lan,
  podWithAnnotations,
} from './testing/check-input.fixture.ts';

describe('The disagreements of a check input', () => {
  it('are none if ledger and cluster agree', () => {
    expect(describeDisagreements({})).to.deep.equal([]);
  });

  it('are only the freeze if the ledger is frozen', () => {
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

  it('have a command as remedy', () => {
    const remedyOf = (parts: CheckInputParts): string =>
      findDisagreements(createCheckInput(parts))[0]?.remedy.replace(/  # .*/, '') ?? '';
    expect(remedyOf({ pods: [] })).to.equal("ipledger release 10.0.0.2 --subnet lan --reason 'its Pod has ended'");
    expect(remedyOf({ pods: [podWithAnnotations({ [`${lan}/ip_address`]: '10.0.0.3' })] })).to.equal(
      `kubectl annotate pod -n default web --overwrite ${lan}/ip_address=10.0.0.2`,
    );
    expect(remedyOf({ pods: [podWithAnnotations({ 'san.infra.kubernetes.io/allocated': 'true' })] })).to.equal(
      'kubectl annotate pod -n default web --overwrite san.infra.kubernetes.io/allocated-',
    );
    expect(remedyOf({ ips: [{ ...ip, allocation: '6' }] })).to.equal('kubectl delete ip web.default.lan.default');
    expect(remedyOf({ ips: [] })).to.equal('kubectl rollout restart -n kube-system deployment/ipledger-pod-watcher');
  });

  it('last if two reads show them alike', () => {
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
