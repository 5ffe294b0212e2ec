import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { IpledgerError } from '../../lib/errors.ts';
import { type Preparation, sandboxOfNode } from './sandbox.ts';

const signal = new AbortController().signal;
const mac = '02:42:ac:11:00:64';

const wanted = (changes: Partial<Preparation>): Preparation => ({
  netns: '/nonexistent',
  interface: 'net1',
  cniType: 'macvlan',
  mac: '',
  macMayDiffer: false,
  ipv6: false,
  replacedDefaults: new Set(),
  ...changes,
});

async function refusal(changes: Partial<Preparation>): Promise<string> {
  const outcome: unknown = await sandboxOfNode.prepare(wanted(changes), signal).catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError).with.property('httpStatus', 500);
  return (outcome as IpledgerError).message;
}

describe('a sandbox', () => {
  it('is not entered when there is nothing to do', async () => {
    await sandboxOfNode.prepare(wanted({}), signal);
  });

  it('that is not there is left to the plugin that gives it an IPv6 address', async () => {
    await sandboxOfNode.prepare(wanted({ ipv6: true }), signal);
  });

  it('is refused when it is not there, or is the node itself', async () => {
    expect(await refusal({ mac }))
      .to.contain('/nonexistent')
      .and.contain('ENOENT');
    // By way of a link that does not exist: were the guard ever lost, this would find that out without touching the machine.
    expect(await refusal({ netns: '/proc/self/ns/net', mac, interface: 'ipl-none' })).to.contain("is the node's own");
  });
});

describe('a real network namespace (needs root)', () => {
  const name = `ipl-${randomBytes(3).toString('hex')}`;
  const netns = `/run/netns/${name}`;
  const inside = (...command: string[]): string =>
    execFileSync('ip', ['netns', 'exec', name, ...command], { encoding: 'utf8' });

  before(function () {
    if (process.getuid?.() !== 0) this.skip();
    execFileSync('ip', ['netns', 'add', name]);
    inside('ip', 'link', 'add', 'net1', 'type', 'veth', 'peer', 'name', 'peer');
    inside('ip', 'address', 'add', '10.9.0.2/24', 'dev', 'net1');
    inside('ip', 'address', 'add', 'fd09::2/64', 'dev', 'net1', 'nodad');
    for (const link of ['net1', 'peer', 'lo']) inside('ip', 'link', 'set', link, 'up');
  });

  after(() => {
    if (process.getuid?.() === 0) execFileSync('ip', ['netns', 'delete', name]);
  });

  const macOf = (link: string): string | undefined =>
    (JSON.parse(inside('ip', '-json', 'link', 'show', 'dev', link)) as { address: string }[])[0]?.address;

  it('has the asked-for MAC set on its link, once or again', async () => {
    await sandboxOfNode.prepare(wanted({ netns, mac: mac.toUpperCase() }), signal);
    expect(macOf('net1')).to.equal(mac);
    await sandboxOfNode.prepare(wanted({ netns, mac }), signal);
    expect(macOf('net1')).to.equal(mac);
  });

  it('can’t have a MAC before its link is made', async () => {
    expect(await refusal({ netns, mac, interface: 'net2' }))
      .to.contain('no such link')
      .and.contain('net2');
  });

  it('says what the kernel says of a MAC that it won’t take', async () => {
    expect(await refusal({ netns, mac: '01:00:5e:00:00:01' })).to.contain(
      'link set dev net1 address 01:00:5e:00:00:01: RTNETLINK',
    );
  });

  it('may be without a MAC that its link need not have', async () => {
    const differing = { netns, mac: '02:00:00:00:00:77', macMayDiffer: true };
    await sandboxOfNode.prepare(wanted({ ...differing, interface: 'net2' }), signal);
    await sandboxOfNode.prepare(wanted({ ...differing, cniType: 'ipvlan' }), signal);
    await sandboxOfNode.prepare(wanted({ ...differing, netns: '/nowhere' }), signal);
    expect(macOf('net1')).to.equal(mac);
    await sandboxOfNode.prepare(wanted(differing), signal);
    expect(macOf('net1')).to.equal(differing.mac);
    await sandboxOfNode.prepare(wanted({ netns, mac }), signal);
  });

  it('is told that ipvlan shares its master’s MAC', async () => {
    expect(await refusal({ netns, mac, cniType: 'ipvlan' })).to.contain('ipvlan');
  });

  const ipv6 = (of: string, name: string): string => inside('cat', `/proc/sys/net/ipv6/conf/${of}/${name}`).trim();

  it('where IPv6 is switched off has it on the link that gets an IPv6 address, which heeds no router', async () => {
    inside('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6');
    await sandboxOfNode.prepare(wanted({ netns, ipv6: true }), signal);
    expect([ipv6('net1', 'disable_ipv6'), ipv6('lo', 'disable_ipv6'), ipv6('net1', 'accept_ra')]).to.deep.equal([
      '0',
      '0',
      '0',
    ]);
    expect([ipv6('peer', 'disable_ipv6'), ipv6('peer', 'accept_ra')]).to.deep.equal(['1', '1']);
    inside('ip', 'address', 'add', 'fd09::2/64', 'dev', 'net1', 'nodad');
  });

  it('whose link is made later has that as its default', async () => {
    inside('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6');
    await sandboxOfNode.prepare(wanted({ netns, ipv6: true, interface: 'net9' }), signal);
    expect([ipv6('default', 'disable_ipv6'), ipv6('default', 'accept_ra')]).to.deep.equal(['0', '0']);
  });

  it('is prepared for a crowd, a few at a time', async () => {
    const crowd = Array.from({ length: 60 }, () => sandboxOfNode.prepare(wanted({ netns, ipv6: true }), signal));
    await Promise.all(crowd);
  });

  it('loses its default routes of the replaced family, and no other route', async () => {
    inside('ip', 'route', 'add', 'default', 'via', '10.9.0.1');
    inside('ip', 'route', 'add', 'default', 'via', '10.9.0.3', 'metric', '50');
    inside('ip', 'route', 'add', '10.8.0.0/16', 'via', '10.9.0.1');
    inside('ip', '-6', 'route', 'add', 'default', 'via', 'fd09::1');
    await sandboxOfNode.prepare(wanted({ netns, replacedDefaults: new Set([4]) }), signal);
    const left = inside('ip', 'route');
    expect(left).to.not.contain('default');
    expect(left).to.contain('10.8.0.0/16').and.contain('10.9.0.0/24');
    expect(inside('ip', '-6', 'route')).to.contain('default via fd09::1');
    await sandboxOfNode.prepare(wanted({ netns, replacedDefaults: new Set([4, 6]) }), signal);
    expect(inside('ip', '-6', 'route')).to.not.contain('default');
  });
});
