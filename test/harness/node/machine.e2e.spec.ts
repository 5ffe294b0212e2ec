/** Tests the machine of a node: isolation, power cut and cleanup. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { mustRun } from '../processes/command.ts';
import { openRun, type Run } from '../run.ts';
import { probeNodeSupport } from './node-support.ts';
import { type MachineState, bootMachine, type Machine, createMachineState } from './machine.ts';
import { forwardPort } from './port-forward.ts';

async function until(what: string, isMet: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (isMet()) return;
    await sleep(50);
  }
  throw new Error(`timeout: waited until ${what}`);
}

/** Processes of a PID namespace, as /proc/<pid>/ns/pid names it. */
function processesIn(namespace: string): string[] {
  return globSync('/proc/[0-9]*/ns/pid').filter((link) => {
    try {
      return readlinkSync(link) === namespace;
    } catch {
      return false; // the process has ended
    }
  });
}

const groupsOf = ({ cgroup }: MachineState): string[] => globSync(`/sys/fs/cgroup/{,*/}${cgroup}`);

describe('The machine of a node', function () {
  this.timeout(120_000);
  let run: Run;
  let state: MachineState;
  let machine: Machine;
  before(async function () {
    const ability = await probeNodeSupport();
    if (!ability.isAvailable) {
      console.log(`      skipped, this machine cannot run nodes: ${ability.reason}`);
      this.skip();
    }
    run = openRun();
    state = createMachineState(run, 'node');
    machine = await bootMachine(run, state);
  });
  after(() => run?.end());

  const inside = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await machine.run(['sh', '-c', script]);
    expect(code, stderr).to.equal(0);
    return stdout.trim();
  };

  it('The machine of a node has its own name, processes, network and system folders', async () => {
    expect(await inside('hostname')).to.equal('node');
    expect(await inside('cat /proc/1/comm')).to.equal('sh');
    expect(
      (await inside('ls /sys/class/net >/dev/null; ip -o link | cut -d: -f2 | cut -d@ -f1')).split(/\s+/),
    ).to.have.members(['lo', 'eth0', 'eth1']);
    await inside('for folder in /etc /opt /var/lib /var/log /run; do echo mine >$folder/ipledger-try; done');
    for (const folder of ['/etc', '/opt', '/var/lib', '/var/log', '/run'])
      expect(existsSync(join(folder, 'ipledger-try')), folder).to.equal(false);
  });

  it('The machine of a node keeps kernel settings of a kubelet inside the node', async () => {
    const file = '/proc/sys/vm/overcommit_memory';
    const own = readFileSync(file, 'utf8');
    await inside(`echo 2 >${file}`);
    expect(await inside(`cat ${file}`)).to.equal('2');
    expect(readFileSync(file, 'utf8')).to.equal(own);
  });

  it('The machine of a node reaps orphaned processes', async () => {
    await inside('setsid -f sleep 0.1; sleep 0.5');
    expect(await inside('grep -l "State:.Z" /proc/[0-9]*/status 2>/dev/null || true')).to.equal('');
  });

  it('The machine of a node reaches a port of the outer loopback while it is forwarded', async () => {
    const server = createServer((_, response) => response.end('hello'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const fetchPort = `curl --silent --max-time 5 http://127.0.0.1:${port}/ || echo unreachable`;
    expect(await inside(fetchPort)).to.equal('unreachable');
    const forward = await forwardPort(machine.network, port);
    expect(await inside(fetchPort)).to.equal('hello');
    forward.close();
    expect(await inside(fetchPort)).to.equal('unreachable');
    server.close();
  });

  it('The machine of a node has its disk, a new boot id and no old processes after a power cut', async () => {
    const boot_id = 'cat /proc/sys/kernel/random/boot_id';
    const [before, processes] = [await inside(boot_id), await inside('readlink /proc/self/ns/pid')];
    await inside('setsid -f sleep 86400 >/dev/null 2>&1');
    await machine.powerCut();
    expect(processesIn(processes)).to.deep.equal([]);
    expect(groupsOf(state)).to.deep.equal([]);
    machine = await bootMachine(run, state);
    expect(await inside(boot_id)).to.not.equal(before);
    expect(await inside('cat /var/lib/ipledger-try; ls /run/ipledger-try 2>/dev/null || true')).to.equal('mine');
  });

  it('The machine of a node leaves nothing behind when the test process is killed', async () => {
    const links = await mustRun('ip', ['-o', 'link']);
    const fixture = join(import.meta.dirname, 'abandoned-machine.fixture.ts');
    const abandoned = spawn(process.execPath, [fixture], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface(abandoned.stdout), 'line')) as [string];
    const remains = JSON.parse(line) as { state: MachineState; network: string; processes: string };
    expect(processesIn(remains.processes)).to.have.length.above(1);
    expect(groupsOf(remains.state)).to.not.deep.equal([]);
    expect(existsSync(remains.network)).to.equal(true);
    expect(await mustRun('ip', ['-o', 'link'])).to.equal(links);

    abandoned.kill('SIGKILL');
    await until('its processes have ended', () => processesIn(remains.processes).length === 0);
    await until('its cgroups are removed', () => groupsOf(remains.state).length === 0);
    await until('its network is removed', () => !existsSync(remains.network));
    await until('its folder is removed', () => !existsSync(remains.state.folder));
  });
});
