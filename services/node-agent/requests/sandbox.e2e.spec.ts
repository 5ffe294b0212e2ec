import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IpledgerError } from '../../../lib/errors.ts';
import { createNodeSandbox, defaultSysctls, type SandboxPreparation } from './sandbox.ts';

const signal = new AbortController().signal;
const nodeSandbox = createNodeSandbox(defaultSysctls);
const mac = '02:42:ac:11:00:64';

const preparation = (changes: Partial<SandboxPreparation>): SandboxPreparation => ({
  netns: '/nonexistent',
  interface: 'net1',
  cniType: 'macvlan',
  mac: '',
  macMayDiffer: false,
  ipv6: false,
  replacedDefaults: new Set(),
  ...changes,
});

async function prepareError(changes: Partial<SandboxPreparation>): Promise<string> {
  const outcome: unknown = await nodeSandbox.prepare(preparation(changes), signal).catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError).with.property('httpStatus', 500);
  return (outcome as IpledgerError).message;
}

describe('Sandbox preparation', () => {
  it('Sandbox preparation does nothing when no change is required', async () => {
    await nodeSandbox.prepare(preparation({}), signal);
  });

  it('Sandbox preparation skips IPv6 when the namespace is absent', async () => {
    await nodeSandbox.prepare(preparation({ ipv6: true }), signal);
  });

  it('Sandbox preparation fails when the namespace is absent or is the node’s own', async () => {
    expect(await prepareError({ mac }))
      .to.contain('/nonexistent')
      .and.contain('ENOENT');
    // Names no existing link: without the guard the test fails and changes nothing here.
    expect(await prepareError({ netns: '/proc/self/ns/net', mac, interface: 'ipl-none' })).to.contain(
      "is the node's own",
    );
  });
});

describe('Sandbox preparation in a network namespace (needs root)', () => {
  const name = `ipl-${randomBytes(3).toString('hex')}`;
  const netns = `/run/netns/${name}`;
  const run = (...command: string[]): string =>
    execFileSync('ip', ['netns', 'exec', name, ...command], { encoding: 'utf8' });

  before(function () {
    if (process.getuid?.() !== 0) this.skip();
    execFileSync('ip', ['netns', 'add', name]);
    run('ip', 'link', 'add', 'net1', 'type', 'veth', 'peer', 'name', 'peer');
    run('ip', 'address', 'add', '10.9.0.2/24', 'dev', 'net1');
    run('ip', 'address', 'add', 'fd09::2/64', 'dev', 'net1', 'nodad');
    for (const link of ['net1', 'peer', 'lo']) run('ip', 'link', 'set', link, 'up');
  });

  after(() => {
    if (process.getuid?.() === 0) execFileSync('ip', ['netns', 'delete', name]);
  });

  const macOf = (link: string): string | undefined =>
    (JSON.parse(run('ip', '-json', 'link', 'show', 'dev', link)) as { address: string }[])[0]?.address;

  it('Sandbox preparation sets the requested MAC on the link, also when repeated', async () => {
    await nodeSandbox.prepare(preparation({ netns, mac: mac.toUpperCase() }), signal);
    expect(macOf('net1')).to.equal(mac);
    await nodeSandbox.prepare(preparation({ netns, mac }), signal);
    expect(macOf('net1')).to.equal(mac);
  });

  it('Sandbox preparation fails to set a MAC before the link exists', async () => {
    expect(await prepareError({ netns, mac, interface: 'net2' }))
      .to.contain('no such link')
      .and.contain('net2');
  });

  it('Sandbox preparation returns the kernel’s error for an invalid MAC', async () => {
    expect(await prepareError({ netns, mac: '01:00:5e:00:00:01' })).to.contain(
      'link set dev net1 address 01:00:5e:00:00:01: RTNETLINK',
    );
  });

  it('Sandbox preparation keeps another MAC when the MAC may differ and cannot be set', async () => {
    const differing = { netns, mac: '02:00:00:00:00:77', macMayDiffer: true };
    await nodeSandbox.prepare(preparation({ ...differing, interface: 'net2' }), signal);
    await nodeSandbox.prepare(preparation({ ...differing, cniType: 'ipvlan' }), signal);
    await nodeSandbox.prepare(preparation({ ...differing, netns: '/nowhere' }), signal);
    expect(macOf('net1')).to.equal(mac);
    await nodeSandbox.prepare(preparation(differing), signal);
    expect(macOf('net1')).to.equal(differing.mac);
    await nodeSandbox.prepare(preparation({ netns, mac }), signal);
  });

  it('Sandbox preparation fails to set a MAC on an ipvlan link, which shares the MAC of its master', async () => {
    expect(await prepareError({ netns, mac, cniType: 'ipvlan' })).to.contain('ipvlan');
  });

  const ipv6 = (link: string, name: string): string => run('cat', `/proc/sys/net/ipv6/conf/${link}/${name}`).trim();

  it('Sandbox preparation enables IPv6 on the link that gets an IPv6 address, without router advertisements', async () => {
    run('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6');
    await nodeSandbox.prepare(preparation({ netns, ipv6: true }), signal);
    expect([ipv6('net1', 'disable_ipv6'), ipv6('lo', 'disable_ipv6'), ipv6('net1', 'accept_ra')]).to.deep.equal([
      '0',
      '0',
      '0',
    ]);
    expect([ipv6('peer', 'disable_ipv6'), ipv6('peer', 'accept_ra')]).to.deep.equal(['1', '1']);
    run('ip', 'address', 'add', 'fd09::2/64', 'dev', 'net1', 'nodad');
  });

  it('Sandbox preparation enables IPv6 as the namespace’s default when the link is made later', async () => {
    run('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6');
    await nodeSandbox.prepare(preparation({ netns, ipv6: true, interface: 'net9' }), signal);
    expect([ipv6('default', 'disable_ipv6'), ipv6('default', 'accept_ra')]).to.deep.equal(['0', '0']);
  });

  it('Sandbox preparation writes IPv6 sysctls through another mount of /proc/sys/net', async () => {
    run('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/net1/disable_ipv6');
    const mount = mkdtempSync(join(tmpdir(), 'ipledger-sysctls-'));
    const absent = createNodeSandbox(join(mount, 'absent')).prepare(preparation({ netns, ipv6: true }), signal);
    expect(await absent.catch((error: unknown) => error)).to.be.instanceOf(IpledgerError);
    execFileSync('mount', ['--bind', '/proc/sys/net', mount]);
    try {
      await createNodeSandbox(mount).prepare(preparation({ netns, ipv6: true }), signal);
    } finally {
      execFileSync('umount', [mount]);
      rmdirSync(mount);
    }
    expect([ipv6('net1', 'disable_ipv6'), ipv6('net1', 'accept_ra')]).to.deep.equal(['0', '0']);
    run('ip', 'address', 'add', 'fd09::2/64', 'dev', 'net1', 'nodad');
  });

  it('Sandbox preparation queues requests beyond its limit of concurrent commands', async () => {
    const preparations = Array.from({ length: 20 }, () =>
      nodeSandbox.prepare(preparation({ netns, ipv6: true }), signal),
    );
    await Promise.all(preparations);
  });

  it('Sandbox preparation removes the default routes of the replaced families only', async () => {
    run('ip', 'route', 'add', 'default', 'via', '10.9.0.1');
    run('ip', 'route', 'add', 'default', 'via', '10.9.0.3', 'metric', '50');
    run('ip', 'route', 'add', '10.8.0.0/16', 'via', '10.9.0.1');
    run('ip', '-6', 'route', 'add', 'default', 'via', 'fd09::1');
    await nodeSandbox.prepare(preparation({ netns, replacedDefaults: new Set([4]) }), signal);
    const routes = run('ip', 'route');
    expect(routes).to.not.contain('default');
    expect(routes).to.contain('10.8.0.0/16').and.contain('10.9.0.0/24');
    expect(run('ip', '-6', 'route')).to.contain('default via fd09::1');
    await nodeSandbox.prepare(preparation({ netns, replacedDefaults: new Set([4, 6]) }), signal);
    expect(run('ip', '-6', 'route')).to.not.contain('default');
  });
});
