import { expect } from 'chai';
import { ipledger } from './command.ts';

describe('A command to copy', () => {
  it('A command to copy quotes characters that a shell would interpret', () => {
    expect(ipledger(['why', 'a/$(reboot)'], { subnet: "it's" })).to.equal(
      `ipledger why 'a/$(reboot)' --subnet 'it'\\''s'`,
    );
  });

  it('A command to copy makes no option of a word or a value that begins with "-"', () => {
    expect(ipledger(['subnets', '--server=attacker'])).to.equal('ipledger subnets -- --server=attacker');
    expect(ipledger(['history', 'subnet', '-x'], { since: 'now', until: '--y' })).to.equal(
      'ipledger history --since now --until=--y -- subnet -x',
    );
  });
});
