/** Three members of etcd, of which one loses its packets or is frozen while Pods get addresses. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { exitStatus } from '../../cli/cli-error.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import {
  kubeConfigFor,
  listReply,
  ScriptedApiServer,
} from '../../lib/kubernetes/client/testing/scripted-api-server.ts';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { configureSubnet } from '../e2e/support/allocator-workload.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { dropPackets, passPackets } from '../harness/network/network-namespaces.ts';
import { printProgress } from '../harness/progress.ts';
import { type Member, type MemberCluster, startMemberCluster } from './etcd-members.ts';
import { roundSuffix, testSize } from './test-size.ts';

/** The number of Pods of a fault, and their rate: a fault outlasts the lease of the writer. */
const [podsPerFault, podsEveryMs] = [200, 30];
const podsInQuiet = 50;
const maxRepeats = 5;
/**
 * The time without a leader of etcd in which the writer keeps its lease of 5 s: a renewal may have
 * been due, and one may fail.
 */
const outlastedMs = 2_500;

describe('faults: a member of etcd', function () {
  this.timeout(testSize.timeoutMs);
  let cluster: MemberCluster;
  let connection: Connection;
  let kubeconfig: string;
  const emptyApi = new ScriptedApiServer();
  before(async () => {
    cluster = await startMemberCluster();
    emptyApi.replies.push(listReply('1'));
    await emptyApi.start();
    kubeconfig = join(cluster.run.folder, 'kubeconfig');
    writeFileSync(kubeconfig, kubeConfigFor(emptyApi.url).exportConfig());
    const [first] = cluster.allocators;
    if (first) await configureSubnet(first);
    connection = connect(cluster.allocators.map(({ endpoint }) => endpoint).join(), undefined);
  });
  after(async () => {
    connection?.close();
    await emptyApi.stop();
    await cluster?.run.end();
  });

  let pods = 0;
  interface Request {
    readonly sentAt: number;
    readonly ms: number;
    /** Failed calls that a client repeats, as the agent does. */
    readonly repeats: number;
  }
  async function allocate(): Promise<Request> {
    const [name, sentAt] = [`pod-${++pods}`, performance.now()];
    const request = {
      pod: { namespace: 'default', name, uid: `uid-${name}` },
      attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
    };
    for (let repeats = 0; ; repeats++)
      try {
        const { allocations } = await call(connection, IpamService.allocate, request, { timeoutMs: 30_000 });
        expect(allocations[0]?.podUid).to.equal(request.pod.uid);
        return { sentAt, ms: performance.now() - sentAt, repeats };
      } catch (error) {
        if (IpledgerError.from(error).kind !== 'transient' || repeats === maxRepeats) throw error;
      }
  }

  /**
   * Sends a request at a steady rate, whether or not the earlier ones are answered.
   * @throws the error with which a request is refused
   */
  async function allocateSteadily(count: number, isOver = (): boolean => true): Promise<Request[]> {
    const requests: Promise<Request>[] = [];
    const failed = new AbortController();
    while (requests.length < count || !isOver()) {
      failed.signal.throwIfAborted();
      const request = allocate();
      request.catch((error: unknown) => failed.abort(error));
      requests.push(request);
      await sleep(podsEveryMs);
    }
    return Promise.all(requests);
  }

  /** Allocates for a fault, and until `seen` resolves. @throws what `seen` rejects with */
  async function allocateUntil(seen: Promise<void>): Promise<Request[]> {
    let isOver = false;
    const watched = seen.finally(() => (isOver = true));
    const [requests] = await Promise.all([allocateSteadily(podsPerFault, () => isOver), watched]);
    return requests;
  }

  const metricsOf = async ({ health }: { readonly health: string }): Promise<string> =>
    (await fetch(`http://${health}/metrics`)).text();

  /** Resolves when the metrics of all allocators show whether the member answers. */
  async function untilSeen({ endpoint }: Member, answers: boolean): Promise<void> {
    const line = `ipledger_etcd_member_answers{endpoint="${endpoint}"} ${Number(answers)}`;
    for (const allocator of cluster.allocators) while (!(await metricsOf(allocator)).includes(line)) await sleep(50);
  }

  const faults: Readonly<Record<string, { cause(member: Member): unknown; end(member: Member): unknown }>> = {
    'drops all packets': { cause: ({ node }) => dropPackets(node), end: ({ node }) => passPackets(node) },
    'receives no packets': {
      cause: ({ node }) => dropPackets(node, 'eth0', ['input']),
      end: ({ node }) => passPackets(node),
    },
    'is frozen': { cause: ({ server }) => server.freeze(), end: ({ server }) => server.resume() },
  };
  const cases = [
    ['that follows', 'drops all packets'],
    ['that leads', 'drops all packets'],
    ['that leads', 'receives no packets'],
    ['that leads', 'is frozen'],
  ] as const;
  for (let round = 1; round <= testSize.rounds; round++)
    for (const [which, fault] of cases)
      it(`a member ${which} ${fault}: the writer stays, and each request succeeds${roundSuffix(round)}`, async () => {
        const [leader, follower] = await cluster.readMembers();
        const member = which === 'that leads' ? leader : (follower as Member);
        const term = await cluster.readTerm();
        const writer = await cluster.readElection();
        const quiet = await allocateSteadily(podsInQuiet);
        await faults[fault]?.cause(member);
        const [since, causedAt] = [performance.now(), Date.now()];
        const during = await allocateUntil(untilSeen(member, false).then(expectAnswers)).finally(() =>
          faults[fault]?.end(member),
        );
        const [after] = await Promise.all([allocateSteadily(podsInQuiet), untilSeen(member, true)]);
        const elections = (await cluster.readTerm()) - term;
        // Without a leader etcd renews no lease. On a slow machine an election may outlast the
        // lease.
        const leaderless = (cluster.firstElectionAfter(causedAt) ?? causedAt) - causedAt;
        if (elections <= 1 && leaderless < outlastedMs) expect(await cluster.readElection()).to.deep.equal(writer);
        const later = during.filter(({ sentAt }) => sentAt > since + 1_000);
        printProgress(
          [
            `a member of etcd ${which} ${fault}: quiet ${percentiles(quiet)}, fault ${percentiles(during)}`,
            `after its first second ${percentiles(later)}, healed ${percentiles(after)}; ${repeatsOf(during)} repeats, ${elections} elections in etcd, ${leaderless} ms without a leader`,
          ].join('; '),
        );
      });

  async function expectAnswers(): Promise<void> {
    const commands = [
      { args: ['status'], status: 0, answer: /ledger:/ },
      { args: ['subnets'], status: 0, answer: /macvlan/ },
      { args: ['why', 'default/pod-1'], status: 0, answer: /allocated for macvlan\.default/ },
      // The cluster has no Pods
      { args: ['check'], status: exitStatus.disagreement, answer: /default\/pod-1 / },
    ];
    const allocator = { endpoint: cluster.allocators.map(({ endpoint }) => endpoint).join() };
    for (const { args, status, answer } of commands) {
      const { code, stdout, stderr } = await runIpledger(args, { allocator, kubeconfig });
      expect(code, `${args.join(' ')}: ${stderr}`).to.equal(status);
      expect(stdout).to.match(answer);
    }
  }
});

const repeatsOf = (requests: readonly { readonly repeats: number }[]): number =>
  requests.reduce((sum, { repeats }) => sum + repeats, 0);

function percentiles(requests: readonly { readonly ms: number }[]): string {
  const sorted = requests.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const at = (share: number): string =>
    `p${share * 100} ${Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)} ms`;
  return `${at(0.5)} ${at(0.99)}`;
}
