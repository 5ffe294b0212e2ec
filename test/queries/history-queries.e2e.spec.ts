/**
 * History queries of a long ledger: each answer of the command line and of the API is compared with
 * a full scan of the log.
 */
import { expect } from 'chai';
import { addressAtInstant, buildAddressPeriods } from '../../cli/allocation-periods/allocation-periods.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection, stream } from '../../lib/grpc/client.ts';
import type { MessageInput } from '../../proto/codec.ts';
import {
  type AddressChange,
  type AddressRecord,
  type Event,
  type HistoryRequest,
  IpamService,
  LedgerService,
} from '../../proto/generated/ipledger.ts';
import { testSize } from '../faults/test-size.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { CommandResult } from '../harness/processes/command.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { buildHistory } from '../history/build-history.ts';
import {
  type LogLine,
  matchingSeqs,
  isOfOwner,
  isOfPod,
  isOnNode,
  readLogLines,
  type AddressHolder,
  holdersAfter,
  holderOfRecord,
  noHolder,
} from './full-scan.ts';

/** The time limit of a query, also on a busy machine. */
const timeoutMs = 60_000;
const events = testSize.historyEvents;
/** Returns the number of an event at a part of the history. */
const seqAt = (part: number): number => Math.round(events * part);

describe(`A ledger of ${events} events`, function () {
  this.timeout(600_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: AllocatorServer;
  let standby: AllocatorServer;
  let client: Connection;
  let lines: readonly LogLine[];

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    await buildHistory({ etcd, events, signal: run.signal });
    lines = await readLogLines(etcd, run.signal);
    [allocator, standby] = (await Promise.all(['one', 'two'].map((name) => startAllocator(run, { etcd, name })))) as [
      AllocatorServer,
      AllocatorServer,
    ];
    client = connect(allocator.endpoint, undefined);
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const line = (seq: number): LogLine => lines[seq - 1] as LogLine;
  const upTo = (seq: number): readonly LogLine[] => lines.slice(0, seq);
  /** Returns the last event at or before an instant. */
  const lastAt = (instant: string): number => lines.findLastIndex((each) => each.at <= instant) + 1;

  const runCli = (...args: string[]): Promise<CommandResult> => runIpledger(args, { allocator });
  async function json<Content>(...args: string[]): Promise<Content> {
    const { code, stdout, stderr } = await runCli(...args, '-o', 'json');
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    return JSON.parse(stdout) as Content;
  }
  /** Returns the sequence numbers of the events that the command line prints. */
  async function printedSeqs(...args: string[]): Promise<number[]> {
    const { stdout } = await runCli(...args, '-o', 'csv');
    return stdout
      .split('\r\n')
      .slice(1, -1)
      .map((row) => Number(row.split(',')[0]));
  }
  const options = { timeoutMs };
  async function history(request: MessageInput<HistoryRequest>, connection = client): Promise<Event[]> {
    const found: Event[] = [];
    let pageToken = '';
    do {
      const reply = await call(connection, LedgerService.history, { pageSize: 1_000, ...request, pageToken }, options);
      found.push(...reply.events);
      pageToken = reply.nextPageToken;
    } while (pageToken !== '');
    return found;
  }
  const seqs = (found: readonly Event[]): number[] => found.map(({ seq }) => seq);

  it(`A large ledger has at least ${events} events without a gap`, () => {
    expect(lines.length).to.be.at.least(events);
    expect(lines.map(({ seq }) => seq)).to.deep.equal(lines.map((_, index) => index + 1));
  });

  it('A large ledger verifies without findings, directly from etcd and through the allocator', async () => {
    for (const where of [['--etcd', etcd.endpoint], []]) {
      const { code, stdout, stderr } = await runCli('verify', ...where);
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(
        new RegExp(`^${lines.length} events, \\d+ other keys verified, up to .*: no findings$`, 'm'),
      );
    }
  });

  describe('who-had', () => {
    /** Returns the five addresses with the most events. */
    const busiestAddresses = (): string[] => {
      const counts = new Map<string, number>();
      for (const { subnet, before } of lines)
        for (const address of Object.keys(before)) {
          const key = `${subnet}/${address}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
      return [...counts]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 5)
        .map(([key]) => key);
    };

    it('who-had on a large ledger names the Pod at the time of each event', async () => {
      for (const key of busiestAddresses()) {
        const [subnet = '', address = ''] = key.split('/');
        const periods = buildAddressPeriods(await history({ address, subnet }));
        const touching = lines.filter((each) => each.subnet === subnet && address in each.before);
        let state: AddressHolder | undefined;
        for (const [index, each] of touching.entries()) {
          state = holdersAfter(touching.slice(0, index + 1)).get(key);
          if (touching[index + 1]?.at === each.at) continue;
          const then = addressAtInstant(each.at, periods);
          expect(then.holder?.podUid ?? '', `${key} at ${each.at}`).to.equal(state?.uid ?? '');
          if (!then.holder)
            expect(then.lingeringBindings.map(({ containerId }) => containerId)).to.deep.equal(state?.containers ?? []);
        }
        expect(touching.length, key).to.be.at.least(events / 5_000);
      }
    });

    it('who-had on a large ledger prints the Pod, a release, or that the address was never used', async () => {
      const allocated = lines.findLast(
        ({ type: what, seq }) => what === 'AddressAllocated' && seq < events / 2,
      ) as LogLine;
      const [address = ''] = Object.keys(allocated.before);
      const { pod, uid } = holdersAfter(upTo(lastAt(allocated.at))).get(
        `${allocated.subnet}/${address}`,
      ) as AddressHolder;
      const { code, stdout } = await runCli('who-had', address, '--at', allocated.at, '--utc');
      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`^${address} in subnet ${allocated.subnet} at .*Z\\n`));
      expect(stdout).to.contain(`  Pod                ${pod} (uid ${uid})\n`);
      expect(stdout).to.match(
        / {2}container .*\n {2}from .*, event \d+ by ipledger:\/\/watcher\n {2}allocated because +dynamic/,
      );

      const release = lines.find(({ type: what, before, seq }) => {
        const [key = ''] = Object.keys(before);
        return (
          what === 'AddressReleased' &&
          seq > seqAt(0.2) &&
          !holdersAfter(upTo(lastAt(line(seq).at))).get(`${line(seq).subnet}/${key}`)
        );
      }) as LogLine;
      const [free = ''] = Object.keys(release.before);
      const afterRelease = await runCli('who-had', free, '--at', release.at, '--subnet', release.subnet);
      expect(afterRelease.code).to.equal(4);
      expect(afterRelease.stdout)
        .to.contain(': no holder\n')
        .and.to.contain(`  before  ${release.data.attachment?.namespace}/`);

      const never = await runCli('who-had', '10.20.255.254');
      expect(never).to.include({
        code: 4,
        stderr: '',
      });
      expect(never.stdout).to.contain('no holder\n  it was never used in any subnet\n');
    });
  });

  describe('history', () => {
    const statefulPodName = (): string => {
      const { attachment } = lines.findLast(({ type: what }) => what === 'AddressTransferred')?.data ?? {};
      return `${attachment?.namespace}/${attachment?.pod}`;
    };

    it('history on a large ledger lists the events of a Pod under all its uids', async () => {
      const name = statefulPodName();
      const [namespace, pod] = name.split('/');
      const expected = matchingSeqs(lines, isOfPod(name));
      expect(expected.length).to.be.at.least(20);
      expect(seqs(await history({ namespace, pod }))).to.deep.equal(expected);
      expect(await printedSeqs('history', 'pod', name, '--limit', '7')).to.deep.equal(expected.slice(0, 7));
    });

    it('history on a large ledger lists the events of a node', async () => {
      const expected = matchingSeqs(lines, isOnNode(lines, 'node-7'));
      expect(expected.length).to.be.at.least(events / 100);
      expect(seqs(await history({ node: 'node-7' }))).to.deep.equal(expected);
      expect(await printedSeqs('history', 'node', 'node-7')).to.deep.equal(expected.slice(0, 100));
    });

    it('history on a large ledger lists the events of the Pods of an owner', async () => {
      const expected = matchingSeqs(lines, isOfOwner('StatefulSet', 'db-10'));
      expect(expected.length).to.be.at.least(100);
      expect(seqs(await history({ owner: { kind: 'StatefulSet', name: 'db-10' } }))).to.deep.equal(expected);
      expect(await printedSeqs('history', 'owner', 'StatefulSet/db-10', '--limit', '5')).to.deep.equal(
        expected.slice(0, 5),
      );
    });

    it('history on a large ledger lists the events between two times, in one subnet and in all', async () => {
      const [since, until] = [line(seqAt(0.4)).at, line(seqAt(0.42)).at];
      const within = (each: LogLine): boolean => each.at >= since && each.at < until;
      const expected = matchingSeqs(lines, (each) => within(each) && each.subnet === 'wide');
      expect(seqs(await history({ subnet: 'wide', since, until }))).to.deep.equal(expected);
      const all = matchingSeqs(lines, within);
      expect(await printedSeqs('history', 'all', '--since', since, '--until', until, '--limit', '5000')).to.deep.equal(
        all,
      );
    });

    it('history on a large ledger is the same from a standby', async () => {
      const other = connect(standby.endpoint, undefined);
      try {
        const expected = matchingSeqs(lines, isOfPod(statefulPodName()));
        const [namespace, pod] = statefulPodName().split('/');
        expect(seqs(await history({ namespace, pod }, other))).to.deep.equal(expected);
      } finally {
        other.close();
      }
    });
  });

  describe('a past state', () => {
    interface State {
      readonly position: { readonly seq: number };
      readonly records: readonly AddressRecord[];
    }
    const holdersIn = ({ records }: State): Map<string, AddressHolder> =>
      new Map(records.map((record) => [`${record.subnet}/${record.address}`, holderOfRecord(record)]));
    const sorted = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

    it('A past state of a large ledger is computed after an event and at a time', async () => {
      const atSeq = await json<State>('state', '--at', `${seqAt(0.5)}`);
      expect(atSeq.position.seq).to.equal(seqAt(0.5));
      expect(sorted(holdersIn(atSeq))).to.deep.equal(sorted(holdersAfter(upTo(seqAt(0.5)))));
      const instant = line(seqAt(0.3)).at;
      const atTime = await json<State>('state', '--at', instant, '--subnet', 'narrow');
      expect(atTime.position.seq).to.equal(lastAt(instant));
      const narrow = [...holdersAfter(upTo(lastAt(instant)))].filter(([key]) => key.startsWith('narrow/'));
      expect(sorted(holdersIn(atTime))).to.deep.equal(sorted(new Map(narrow)));
      const { stdout } = await runCli('state', '--at', `${seqAt(0.5)}`);
      expect(stdout.split('\n')[0]).to.match(/^SUBNET +ADDRESS +STATE +HOLDER +NODE +SINCE$/);
      expect(stdout).to.contain(`as of event ${seqAt(0.5)} at `);
    });

    it('A past state of a large ledger is compared with a later state', async () => {
      const { addresses } = await json<{ addresses: AddressChange[] }>(
        'diff',
        '--from',
        `${seqAt(0.5)}`,
        '--to',
        `${seqAt(0.52)}`,
      );
      const [before, after] = [holdersAfter(upTo(seqAt(0.5))), holdersAfter(upTo(seqAt(0.52)))];
      const keys = [...new Set([...before.keys(), ...after.keys()])];
      const changed = keys.filter((key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)));
      expect(addresses.map((each) => `${each.after?.subnet}/${each.after?.address}`)).to.have.members(changed);
      for (const change of addresses) {
        const key = `${change.after?.subnet}/${change.after?.address}`;
        expect(holderOfRecord(change.before as AddressRecord), key).to.deep.equal(before.get(key) ?? noHolder);
        expect(holderOfRecord(change.after as AddressRecord), key).to.deep.equal(after.get(key) ?? noHolder);
      }
      const { code, stderr } = await runCli('diff', '--from', `${seqAt(0.5)}`, '--to', `${seqAt(0.5)}`);
      expect({ code, stderr }).to.deep.equal({ code: 4, stderr: 'no differences\n' });
    });

    it('A past state of a large ledger is computed for two clients at a time, rejected for a third, and does not delay an allocation', async () => {
      const countRecords = async (): Promise<number> => {
        let records = 0;
        const request = { pointInTime: { seq: seqAt(0.9) } };
        for await (const reply of stream(client, LedgerService.stateAt, request, {
          silenceMs: timeoutMs,
          signal: run.signal,
        }))
          records += reply.records.length;
        return records;
      };
      const [first, second, third] = [countRecords(), countRecords(), countRecords().catch((error: unknown) => error)];
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      const pod = { namespace: 'team-0', name: 'concurrent', uid: 'uid-concurrent' };
      const { allocations } = await call(client, IpamService.allocate, { pod, attachments }, options);
      expect(allocations).to.have.length(1);
      const expected = holdersAfter(upTo(seqAt(0.9))).size;
      expect(await Promise.all([first, second])).to.deep.equal([expected, expected]);
      expect(await third)
        .to.be.instanceOf(IpledgerError)
        .and.to.have.property('code', 'OVERLOADED');
    });
  });

  describe('why', () => {
    interface Why {
      readonly events: readonly Event[];
      readonly diagnosis: readonly string[];
      readonly pods: readonly { readonly uid: string }[];
    }

    it('why on a large ledger lists the events of a Pod that was re-created under its name many times', async () => {
      const held = lines.findLast(({ type: what }) => what === 'AddressTransferred') as LogLine;
      const name = `${held.data.attachment?.namespace}/${held.data.attachment?.pod}`;
      const { events: listed, pods } = await json<Why>('why', name);
      expect(seqs(listed)).to.deep.equal(matchingSeqs(lines, isOfPod(name)));
      const uids = lines.filter(isOfPod(name)).flatMap(({ data }) => data.uid ?? []);
      expect(pods.map(({ uid }) => uid)).to.have.members([...new Set(uids)]);
    });

    it('why on a large ledger prints the address that a refused Pod waits for', async () => {
      const refused = lines.findLast(({ type: what }) => what === 'AllocationRefused') as LogLine;
      const name = `${refused.data.attachment?.namespace}/${refused.data.attachment?.pod}`;
      const { code, stdout } = await runCli('why', name);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^ {2}it waits for an address of .*: .*10\.\d0\.0\.1/m);
    });

    it('why on a large ledger prints the release of a Pod, and exits with status 4 for an unknown Pod', async () => {
      const released = lines.find(({ type: what, seq }) => what === 'AddressReleased' && seq > seqAt(0.1)) as LogLine;
      const name = `${released.data.attachment?.namespace}/${released.data.attachment?.pod}`;
      const { stdout } = await runCli('why', name);
      expect(stdout).to.contain(' allocated for ').and.to.contain(': pod-deleted');
      expect((await runCli('why', 'team-0/unknown')).code).to.equal(4);
    });
  });

  describe('watch', () => {
    it('watch on a large ledger starts at an event and shows one node', async () => {
      const expected = matchingSeqs(lines, isOnNode(lines, 'node-3'))
        .toReversed()
        .filter((seq) => seq >= seqAt(0.6));
      const found = await printedSeqs('watch', '--from', `${seqAt(0.6)}`, '--node', 'node-3', '--count', '50');
      expect(found).to.deep.equal(expected.slice(0, 50));
    });

    it('watch on a large ledger shows an event when it happens', async () => {
      const watching = runCli('watch', '--pod', 'live', '--type', 'AddressAllocated', '--count', '1', '-o', 'json');
      let finished: CommandResult | undefined;
      void watching.then((ended) => (finished = ended));
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      let attempt = 0;
      // The watch begins some time after its process starts
      await eventually(async () => {
        const pod = { namespace: 'team-0', name: 'live', uid: `uid-live-${attempt++}` };
        await call(client, IpamService.allocate, { pod, attachments }, options);
        await call(
          client,
          IpamService.release,
          { namespace: 'team-0', pod: 'live', podUid: pod.uid, cause: 'RELEASE_CAUSE_POD_DELETED' },
          options,
        );
        expect(finished).to.not.equal(undefined);
      }, timeoutMs);
      expect(JSON.parse(finished?.stdout ?? '')).to.have.nested.property('addressAllocated.attachment.pod', 'live');
    });
  });
});
