/**
 * Tests `ipledger replace-etcd-member` and the chart’s check of a member, on three members of etcd.
 * One member has lost its data.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { mustRun, runCommand, type CommandResult } from '../../harness/processes/command.ts';
import { findFreePort } from '../../harness/processes/free-ports.ts';
import { probeHttp } from '../../harness/processes/readiness-probes.ts';
import { type Server, startServer } from '../../harness/processes/server.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { chartFolder } from '../../chart/render-chart.ts';

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
    servers.push(...(await Promise.all(others.map((index) => start(at(index))))));
  });
  after(() => run?.end());

  const [lost, others] = [2, [0, 1]] as const;
  const at = (index: number): Place => places[index] as Place;
  const endpoints = (): string => places.map(({ client }) => client).join(',');
  const replace = (): Promise<CommandResult> =>
    runIpledger(['replace-etcd-member', at(lost).peer, '--etcd', endpoints(), '--yes']);

  const folderOf = ({ name }: Place): string => join(run.folder, name);

  /** Runs the check that the chart runs before a member starts, after etcd has started once. */
  const checkStart = (place: Place, env: NodeJS.ProcessEnv = {}): Promise<CommandResult> =>
    runCommand(process.execPath, [join(chartFolder, 'files', 'check-etcd-member.mjs'), folderOf(place)], {
      env: { NAME: place.name, MEMBERS: initialCluster(), FORMED: 'true', WAIT_MS: '0', ...env },
    });
  const initialCluster = (): string => places.map(({ name, peer }) => `${name}=${peer}`).join(',');

  /** Starts a member; the state "existing" lets it join the others. */
  async function start({ name, client, peer }: Place, state = 'new'): Promise<Server> {
    const args = [
      `--name=${name}`,
      `--data-dir=${join(run.folder, name)}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${initialCluster()}`,
      '--log-level=error',
      '--unsafe-no-fsync',
    ];
    return startServer(run, {
      name,
      program: await findProgram('etcd'),
      args,
      // Sets the state as the chart does.
      env: { ETCD_INITIAL_CLUSTER_STATE: state },
      ready: (signal) => probeHttp(`${client}/readyz`, signal),
      readyWithinMs: 60_000,
    });
  }

  it('The check of a member permits the first start of a member after the others have formed the cluster', async () => {
    expect(await checkStart(at(lost))).to.include({ code: 0, stderr: '' });
    servers.push(await start(at(lost)));
  });

  it('ipledger replace-etcd-member refuses a member that answers, and without a quorum of the others', async () => {
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

  it('The check of a member permits the start of a member with data, and of any member before etcd has formed', async () => {
    expect(await checkStart(at(0))).to.include({ code: 0, stderr: '' });
    expect(await checkStart({ ...at(0), name: 'etcd-1' }, { FORMED: '' })).to.include({ code: 0, stderr: '' });
  });

  it('A member with an empty folder cannot start until ipledger replace-etcd-member lets it copy the data of the others', async () => {
    const etcdctl = async (place: Place, ...args: string[]): Promise<string> =>
      mustRun(await findProgram('etcdctl'), [`--endpoints=${place.client}`, ...args]);
    await etcdctl(at(0), 'put', 'kept', 'yes');
    await servers[lost]?.kill();
    rmSync(folderOf(at(lost)), { recursive: true });
    const checkLost = async (text: string, state?: string): Promise<void> => {
      const { code, stderr } = await checkStart(at(lost), { ETCD_INITIAL_CLUSTER_STATE: state });
      expect(code, stderr).to.equal(1);
      expect(stderr).to.contain(text).and.to.contain('etcd.managed.replaceMember=etcd-2');
    };
    await checkLost('etcd-2 has lost its data');
    // Still refuses in state existing: the Job that replaces the member has not run yet.
    await checkLost('etcd-2 has lost its data', 'existing');
    for (const text of ['is replaced', 'is already replaced']) {
      const { code, stdout, stderr } = await replace();
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain(text);
    }
    await checkLost('etcd-2 was added to etcd again');
    expect(await checkStart(at(lost), { ETCD_INITIAL_CLUSTER_STATE: 'existing' })).to.include({ code: 0, stderr: '' });
    await start(at(lost), 'existing');
    expect(await etcdctl(at(lost), 'get', 'kept', '--print-value-only')).to.equal('yes\n');
  });

  it('A member with an empty folder cannot start while no other member answers', async () => {
    const silent = places.map(({ name }) => `${name}=http://127.0.0.1:1`).join(',');
    const { code, stderr } = await checkStart(
      { ...at(lost), name: 'etcd-9' },
      { MEMBERS: `${silent},etcd-9=http://127.0.0.1:2` },
    );
    expect(code).to.equal(1);
    expect(stderr).to.contain('no other member answers, so it is unknown whether etcd-9 may start without data');
  });
});
