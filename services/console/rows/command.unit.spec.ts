import { expect } from 'chai';
import { ipledger } from './command.ts';

describe('A command to copy', () => {
  it('quotes characters that a shell would interpret', () => {
    expect(ipledger(['why', 'a/$(reboot)'], { subnet: "it's" })).to.equal(
      `ipledger why 'a/$(reboot)' --subnet 'it'\\''s'`,
    );
  });

  it('makes no option of a word or a value that begins with "-"', () => {
    expect(ipledger(['subnets', '--server=attacker'])).to.equal('ipledger subnets -- --server=attacker');
    expect(ipledger(['history', 'subnet', '-x'], { since: 'now', until: '--y' })).to.equal(
      'ipledger history --since now --until=--y -- subnet -x',
    );
  });
});
