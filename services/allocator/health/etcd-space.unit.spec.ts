import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { EtcdSpace } from './etcd-space.ts';

describe('EtcdSpace', () => {
  const mebibyte = 1 << 20;
  const used = (inUse: number) => ({ bytes: inUse, inUse });
  const space = new EtcdSpace(100 * mebibyte, true);
  beforeEach(() => space.update(used(0)));

  it('EtcdSpace does not delay commands until only the last tenth of the quota is left', () => {
    expect(space.wait(undefined)).to.equal(undefined);
    space.update(used(90 * mebibyte));
    expect(space.wait(undefined)).to.equal(undefined);
    space.update(used(91 * mebibyte));
    expect(space.isReserved).to.equal(true);
  });

  it('EtcdSpace reserves more than a tenth of a small quota', () => {
    const small = new EtcdSpace(16 * mebibyte, true);
    small.update(used(12 * mebibyte));
    expect(small.isReserved).to.equal(false);
    small.update(used(12 * mebibyte + 1));
    expect(small.isReserved).to.equal(true);
    expect(small.usedShare).to.be.closeTo(0.75, 0.01);
  });

  it('EtcdSpace reserves nothing without an archive', () => {
    const unsealed = new EtcdSpace(100, false);
    unsealed.update(used(99));
    expect(unsealed.wait(undefined)).to.equal(undefined);
  });

  it('commands wait while only the reserve is left, and all continue once there is more', async () => {
    space.update(used(95 * mebibyte));
    const waiting = [undefined, performance.now() + 60_000].map(async (expiresAt) => space.wait(expiresAt));
    space.update(used(92 * mebibyte));
    space.update(used(80 * mebibyte));
    expect(await Promise.all(waiting)).to.deep.equal([undefined, undefined]);
  });

  it('EtcdSpace rejects a command before the deadline of its caller, with the remedy', async () => {
    space.update(used(95 * mebibyte));
    const refused = await Promise.resolve(space.wait(performance.now())).then(() => undefined, IpledgerError.from);
    expect(refused).to.include({ code: 'LEDGER_NOT_WRITABLE' });
    expect(refused?.message).to.contain('the rest is kept for sealing');
  });
});
