/** `ipledger replace-etcd-member` on three members of etcd, of which one lost its data. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { mustRun, type CommandResult } from '../../harness/processes/command.ts';
import { findFreePort } from '../../harness/processes/free-ports.ts';
import { probeHttp } from '../../harness/processes/readiness-probes.ts';
import { type Server, startServer } from '../../harness/processes/server.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import { openRun, type Run } from '../../harness/run.ts';

interface Place {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
}

describe('ipledger replace-etcd-member', function () {
  this.timeout(120_000);
  let run: Run;
  const places: Place[] = [];
  const servers: Server[] = [];
  before(async () => {
    run = openRun();
    for (const name of ['etcd-0', 'etcd-1', 'etcd-2']) {
      const [client, peer] = [await findFreePort(), await findFreePort()];
      places.push({ name, client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` });
    }
    servers.push(...(await Promise.all(places.map((place) => start(place)))));
  });
  after(() => run?.end());

  const [lost, others] = [2, [0, 1]] as const;
  const at = (index: number): Place => places[index] as Place;
  const endpoints = (): string => places.map(({ client }) => client).join(',');
  const replace = (): Promise<CommandResult> =>
    runIpledger(['replace-etcd-member', at(lost).peer, '--etcd', endpoints(), '--yes']);

  /** With a state, only that of a member that joins others. */
  async function start({ name, client, peer }: Place, state = 'new'): Promise<Server> {
    const args = [
      `--name=${name}`,
      `--data-dir=${join(run.folder, name)}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${places.map((each) => `${each.name}=${each.peer}`).join(',')}`,
      '--log-level=error',
      '--unsafe-no-fsync',
    ];
    return startServer(run, {
      name,
      program: await findProgram('etcd'),
      args,
      // As the chart sets it
      env: { ETCD_INITIAL_CLUSTER_STATE: state },
      ready: (signal) => probeHttp(`${client}/readyz`, signal),
      readyWithinMs: 60_000,
    });
  }

  it('refuses a member that answers, and without a quorum of the others', async () => {
    const answering = await replace();
    expect(answering.code).to.equal(1);
    expect(answering.stderr).to.contain('answers, so it has its data: nothing was changed');
    const [other] = others;
    await servers[other]?.kill();
    const withoutQuorum = await replace();
    expect(withoutQuorum.code).to.equal(1);
    expect(withoutQuorum.stderr).to.contain('fewer than 2 members of etcd besides');
    servers[other] = await start(at(other));
  });

  it('lets a member with an empty folder copy the data of the others, and can be repeated', async () => {
    const etcdctl = async (place: Place, ...args: string[]): Promise<string> =>
      mustRun(await findProgram('etcdctl'), [`--endpoints=${place.client}`, ...args]);
    await etcdctl(at(0), 'put', 'kept', 'yes');
    await servers[lost]?.kill();
    rmSync(join(run.folder, at(lost).name), { recursive: true });
    const failed: unknown = await start(at(lost)).catch((error: unknown) => error);
    expect(String(failed)).to.contain('has already been bootstrapped');
    for (const text of ['is replaced', 'is already replaced']) {
      const { code, stdout, stderr } = await replace();
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain(text);
    }
    await start(at(lost), 'existing');
    expect(await etcdctl(at(lost), 'get', 'kept', '--print-value-only')).to.equal('yes\n');
  });
});
