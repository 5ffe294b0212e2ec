import { expect } from 'chai';
import { formatStorageUse, noticeOfStorageUse } from './storage-use.ts';

const quotaBytes = 2 ** 31;

describe('The use of etcd', () => {
  it('The use of etcd is a share of the quota, with the days that are left if the size grows', () => {
    const use = { usedBytes: quotaBytes / 4, quotaBytes };
    expect(formatStorageUse(use)).to.equal('25 % of 2.0 GiB are in use');
    expect(formatStorageUse({ usedBytes: 9, quotaBytes: 64 << 20, daysLeft: 1 })).to.equal(
      '0 % of 64 MiB are in use, full in 1 day at the growth of the last day',
    );
    expect(formatStorageUse({ ...use, daysLeft: 0 })).to.contain('full in less than a day at');
  });

  it('The use of etcd is worth a notice from half of the quota on, and in the last two weeks', () => {
    const half = { usedBytes: quotaBytes / 2, quotaBytes };
    expect(noticeOfStorageUse(undefined)).to.equal('');
    expect(noticeOfStorageUse(half)).to.equal('');
    expect(noticeOfStorageUse({ ...half, daysLeft: 14 })).to.equal('');
    expect(noticeOfStorageUse({ ...half, daysLeft: 13 })).to.equal(
      'etcd: 50 % of 2.0 GiB are in use, full in 13 days at the growth of the last day. See the runbook IpledgerEtcdHalfFull',
    );
    expect(noticeOfStorageUse({ ...half, usedBytes: quotaBytes / 2 + 1 })).to.match(/^etcd: 50 %/);
  });
});
