import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { mustRun } from '../command.ts';
import { openRun, type Run } from '../run.ts';
import { canRunNodes } from './ability.ts';
import { type Body, boot, type Machine, newBody } from './machine.ts';
import { openPort } from './port.ts';

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (holds()) return;
    await sleep(50);
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Processes of a PID namespace, as /proc/<pid>/ns/pid names it. */
function processesIn(namespace: string): string[] {
  return globSync('/proc/[0-9]*/ns/pid').filter((link) => {
    try {
      return readlinkSync(link) === namespace;
    } catch {
      return false; // it ended
    }
  });
}

const groupsOf = ({ cgroup }: Body): string[] => globSync(`/sys/fs/cgroup/{,*/}${cgroup}`);

describe('the machine of a node', function () {
  this.timeout(120_000);
  let run: Run;
  let body: Body;
  let machine: Machine;
  before(async function () {
    const ability = await canRunNodes();
    if (!ability.able) {
      console.log(`      skipped, no nodes here: ${ability.reason}`);
      this.skip();
    }
    run = openRun();
    body = newBody(run, 'node');
    machine = await boot(run, body);
  });
  after(() => run?.end());

  const inside = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await machine.run(['sh', '-c', script]);
    expect(code, stderr).to.equal(0);
    return stdout.trim();
  };

  it('has name, processes, network and system folders of its own', async () => {
    expect(await inside('hostname')).to.equal('node');
    expect(await inside('cat /proc/1/comm')).to.equal('sh');
    expect(
      (await inside('ls /sys/class/net >/dev/null; ip -o link | cut -d: -f2 | cut -d@ -f1')).split(/\s+/),
    ).to.have.members(['lo', 'eth0', 'eth1']);
    await inside('for folder in /etc /opt /var/lib /var/log /run; do echo mine >$folder/ipledger-try; done');
    for (const folder of ['/etc', '/opt', '/var/lib', '/var/log', '/run'])
      expect(existsSync(join(folder, 'ipledger-try')), folder).to.equal(false);
  });

  it('leaves the settings of the whole machine alone, and shows a kubelet what it would set', async () => {
    const file = '/proc/sys/vm/overcommit_memory';
    const own = readFileSync(file, 'utf8');
    await inside(`echo 2 >${file}`);
    expect(await inside(`cat ${file}`)).to.equal('2');
    expect(readFileSync(file, 'utf8')).to.equal(own);
  });

  it('buries processes whose parents are gone', async () => {
    await inside('setsid -f sleep 0.1; sleep 0.5');
    expect(await inside('grep -l "State:.Z" /proc/[0-9]*/status 2>/dev/null || true')).to.equal('');
  });

  it('reaches a port of our loopback at its own, until that is closed', async () => {
    const server = createServer((_, response) => response.end('hello'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = `curl --silent --max-time 5 http://127.0.0.1:${port}/ || echo nobody`;
    expect(await inside(ask)).to.equal('nobody');
    const way = await openPort(machine.network, port);
    expect(await inside(ask)).to.equal('hello');
    way.close();
    expect(await inside(ask)).to.equal('nobody');
    server.close();
  });

  it('after a power cut has its disk, another boot id, and nothing that ran', async () => {
    const boot_id = 'cat /proc/sys/kernel/random/boot_id';
    const [before, processes] = [await inside(boot_id), await inside('readlink /proc/self/ns/pid')];
    await inside('setsid -f sleep 86400 >/dev/null 2>&1');
    await machine.powerCut();
    expect(processesIn(processes)).to.deep.equal([]);
    expect(groupsOf(body)).to.deep.equal([]);
    machine = await boot(run, body);
    expect(await inside(boot_id)).to.not.equal(before);
    expect(await inside('cat /var/lib/ipledger-try; ls /run/ipledger-try 2>/dev/null || true')).to.equal('mine');
  });

  it('leaves nothing behind when the process that runs it is killed', async () => {
    const links = await mustRun('ip', ['-o', 'link']);
    const fixture = join(import.meta.dirname, 'abandoned-machine.fixture.ts');
    const abandoned = spawn(process.execPath, [fixture], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(abandoned.stdout), 'line')) as [string];
    const left = JSON.parse(line) as { body: Body; network: string; processes: string };
    expect(processesIn(left.processes)).to.have.length.above(1);
    expect(groupsOf(left.body)).to.not.deep.equal([]);
    expect(existsSync(left.network)).to.equal(true);
    expect(await mustRun('ip', ['-o', 'link'])).to.equal(links);

    abandoned.kill('SIGKILL');
    await until('its processes are gone', () => processesIn(left.processes).length === 0);
    await until('its cgroups are gone', () => groupsOf(left.body).length === 0);
    await until('its network is gone', () => !existsSync(left.network));
    await until('its folder is gone', () => !existsSync(left.body.folder));
  });
});
