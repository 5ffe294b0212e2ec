import { expect } from 'chai';
import { at, tenuresOf } from '../../cli/tenure.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect, type Connection, stream } from '../../lib/rpc.ts';
import type { Input } from '../../proto/codec.ts';
import {
  type AddressChange,
  type AddressRecord,
  type Event,
  type HistoryRequest,
  IpamService,
  LedgerService,
} from '../../proto/ipledger.ts';
import { eventually } from '../e2e/eventually.ts';
import type { CommandResult } from '../harness/command.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type Allocator, ipledger, startAllocator } from '../harness/services.ts';
import { buildHistory } from '../history/build.ts';
import {
  type Line,
  newestFirst,
  ofOwner,
  ofPod,
  onNode,
  readLines,
  type Standing,
  standingAfter,
  standingOf,
} from './scan.ts';

/** What the command line says in a minute at most, on a machine that has other things to do. */
const patienceMs = 60_000;
const events = 100_000;

describe('A ledger of 100,000 events is asked', function () {
  this.timeout(600_000);
  let run: Run;
  let etcd: Etcd;
  let allocator: Allocator;
  let standby: Allocator;
  let client: Connection;
  let lines: readonly Line[];

  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
    await buildHistory({ etcd, events, signal: run.signal });
    lines = await readLines(etcd, run.signal);
    [allocator, standby] = (await Promise.all(['one', 'two'].map((name) => startAllocator(run, { etcd, name })))) as [
      Allocator,
      Allocator,
    ];
    client = connect(allocator.endpoint, undefined);
  });
  after(async () => {
    client?.close();
    await run.end();
  });

  const line = (seq: number): Line => lines[seq - 1] as Line;
  const upTo = (seq: number): readonly Line[] => lines.slice(0, seq);
  /** The last event at or before an instant. */
  const lastAt = (instant: string): number => lines.findLastIndex((each) => each.at <= instant) + 1;

  const type = (...args: string[]): Promise<CommandResult> => ipledger(args, { allocator, signal: run.signal });
  async function json<Content>(...args: string[]): Promise<Content> {
    const { code, stdout, stderr } = await type(...args, '-o', 'json');
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    return JSON.parse(stdout) as Content;
  }
  /** The numbers of the events that the command line shows. */
  async function numbers(...args: string[]): Promise<number[]> {
    const { stdout } = await type(...args, '-o', 'csv');
    return stdout
      .split('\r\n')
      .slice(1, -1)
      .map((row) => Number(row.split(',')[0]));
  }
  const options = { timeoutMs: patienceMs };
  async function history(request: Input<HistoryRequest>, connection = client): Promise<Event[]> {
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

  it('and is as long as that', () => {
    expect(lines.length).to.be.at.least(events);
    expect(lines.map(({ seq }) => seq)).to.deep.equal(lines.map((_, index) => index + 1));
  });

  it('whether it is as it was written: nothing is wrong, straight from etcd and by the allocator', async () => {
    for (const where of [['--etcd', etcd.endpoint], []]) {
      const { code, stdout, stderr } = await type('verify', ...where);
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(
        new RegExp(`^${lines.length} events, \\d+ other keys verified, up to .*: nothing is wrong$`, 'm'),
      );
    }
  });

  describe('who had an address,', () => {
    /** Addresses that many Pods had, one after another. */
    const busy = (): string[] => {
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

    it('and names the Pod, at every instant at which something happened', async () => {
      for (const key of busy()) {
        const [subnet = '', address = ''] = key.split('/');
        const tenures = tenuresOf(await history({ address, subnet }));
        const touching = lines.filter((each) => each.subnet === subnet && address in each.before);
        let state: Standing | undefined;
        for (const [index, each] of touching.entries()) {
          state = standingAfter(touching.slice(0, index + 1)).get(key);
          if (touching[index + 1]?.at === each.at) continue;
          const then = at(each.at, tenures);
          expect(then.holder?.podUid ?? '', `${key} at ${each.at}`).to.equal(state?.uid ?? '');
          if (!then.holder)
            expect(then.answering.map(({ containerId }) => containerId)).to.deep.equal(state?.containers ?? []);
        }
        expect(touching.length, key).to.be.at.least(20);
      }
    });

    it('as an operator types it: while a Pod had it, while nobody had, and now', async () => {
      const given = lines.findLast(({ type: what, seq }) => what === 'AddressAllocated' && seq < events / 2) as Line;
      const [address = ''] = Object.keys(given.before);
      const { pod, uid } = standingAfter(upTo(lastAt(given.at))).get(`${given.subnet}/${address}`) as Standing;
      const { code, stdout } = await type('who-had', address, '--at', given.at, '--utc');
      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`^${address} in subnet ${given.subnet} at .*Z\\n`));
      expect(stdout).to.contain(`  Pod         ${pod} (uid ${uid})\n`);
      expect(stdout).to.match(
        / {2}container .*\n {2}from .*, event \d+ by ipledger:\/\/watcher\n {2}why given +dynamic/,
      );

      const gone = lines.find(({ type: what, before, seq }) => {
        const [key = ''] = Object.keys(before);
        return (
          what === 'AddressReleased' &&
          seq > 20_000 &&
          !standingAfter(upTo(lastAt(line(seq).at))).get(`${line(seq).subnet}/${key}`)
        );
      }) as Line;
      const [left = ''] = Object.keys(gone.before);
      const nobody = await type('who-had', left, '--at', gone.at, '--subnet', gone.subnet);
      expect(nobody.code).to.equal(4);
      expect(nobody.stdout)
        .to.contain(': nobody had it\n')
        .and.to.contain(`  before  ${gone.data.attachment?.namespace}/`);

      const never = await type('who-had', '10.20.255.254');
      expect(never).to.include({
        code: 4,
        stderr: '',
      });
      expect(never.stdout).to.contain('nobody had it\n  it was never used in any subnet\n');
    });
  });

  describe('what happened', () => {
    const member = (): string => {
      const { attachment } = lines.findLast(({ type: what }) => what === 'AddressTransferred')?.data ?? {};
      return `${attachment?.namespace}/${attachment?.pod}`;
    };

    it('to a Pod, of whichever uid', async () => {
      const name = member();
      const [namespace, pod] = name.split('/');
      const expected = newestFirst(lines, ofPod(name));
      expect(expected.length).to.be.at.least(20);
      expect(seqs(await history({ namespace, pod }))).to.deep.equal(expected);
      expect(await numbers('history', 'pod', name, '--limit', '7')).to.deep.equal(expected.slice(0, 7));
    });

    it('on a node', async () => {
      const expected = newestFirst(lines, onNode(lines, 'node-7'));
      expect(expected.length).to.be.at.least(1_000);
      expect(seqs(await history({ node: 'node-7' }))).to.deep.equal(expected);
      expect(await numbers('history', 'node', 'node-7')).to.deep.equal(expected.slice(0, 100));
    });

    it('to the Pods of an owner', async () => {
      const expected = newestFirst(lines, ofOwner('StatefulSet', 'db-10'));
      expect(expected.length).to.be.at.least(100);
      expect(seqs(await history({ owner: { kind: 'StatefulSet', name: 'db-10' } }))).to.deep.equal(expected);
      expect(await numbers('history', 'owner', 'StatefulSet/db-10', '--limit', '5')).to.deep.equal(
        expected.slice(0, 5),
      );
    });

    it('in a subnet, and in all, between two instants', async () => {
      const [since, until] = [line(40_000).at, line(42_000).at];
      const within = (each: Line): boolean => each.at >= since && each.at < until;
      const expected = newestFirst(lines, (each) => within(each) && each.subnet === 'wide');
      expect(seqs(await history({ subnet: 'wide', since, until }))).to.deep.equal(expected);
      const all = newestFirst(lines, within);
      expect(await numbers('history', 'all', '--since', since, '--until', until, '--limit', '5000')).to.deep.equal(all);
    });

    it('and any replica knows', async () => {
      const other = connect(standby.endpoint, undefined);
      try {
        const expected = newestFirst(lines, ofPod(member()));
        const [namespace, pod] = member().split('/');
        expect(seqs(await history({ namespace, pod }, other))).to.deep.equal(expected);
      } finally {
        other.close();
      }
    });
  });

  describe('how it was', () => {
    interface State {
      readonly position: { readonly seq: number };
      readonly records: readonly AddressRecord[];
    }
    const standings = ({ records }: State): Map<string, Standing> =>
      new Map(records.map((record) => [`${record.subnet}/${record.address}`, standingOf(record)]));
    const sorted = <Value>(map: ReadonlyMap<string, Value>): [string, Value][] =>
      [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

    it('after an event, and at an instant', async () => {
      const atSeq = await json<State>('state', '--at', '50000');
      expect(atSeq.position.seq).to.equal(50_000);
      expect(sorted(standings(atSeq))).to.deep.equal(sorted(standingAfter(upTo(50_000))));
      const instant = line(30_000).at;
      const atTime = await json<State>('state', '--at', instant, '--subnet', 'narrow');
      expect(atTime.position.seq).to.equal(lastAt(instant));
      const narrow = [...standingAfter(upTo(lastAt(instant)))].filter(([key]) => key.startsWith('narrow/'));
      expect(sorted(standings(atTime))).to.deep.equal(sorted(new Map(narrow)));
      const { stdout } = await type('state', '--at', '50000');
      expect(stdout.split('\n')[0]).to.match(/^SUBNET +ADDRESS +STATE +FOR +NODE +SINCE$/);
      expect(stdout).to.contain('as of event 50000, which happened at ');
    });

    it('and what changed since', async () => {
      const { addresses } = await json<{ addresses: AddressChange[] }>('diff', '--from', '50000', '--to', '52000');
      const [before, after] = [standingAfter(upTo(50_000)), standingAfter(upTo(52_000))];
      const keys = [...new Set([...before.keys(), ...after.keys()])];
      const changed = keys.filter((key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)));
      expect(addresses.map((each) => `${each.after?.subnet}/${each.after?.address}`)).to.have.members(changed);
      for (const change of addresses) {
        const key = `${change.after?.subnet}/${change.after?.address}`;
        const nobody: Standing = { pod: '', uid: '', containers: [] };
        expect(standingOf(change.before as AddressRecord), key).to.deep.equal(before.get(key) ?? nobody);
        expect(standingOf(change.after as AddressRecord), key).to.deep.equal(after.get(key) ?? nobody);
      }
      const { code, stderr } = await type('diff', '--from', '50000', '--to', '50000');
      expect({ code, stderr }).to.deep.equal({ code: 4, stderr: 'nothing changed\n' });
    });

    it('by several at once: two are answered, a third is told to come again, and who wants an address gets it', async () => {
      const ask = async (): Promise<number> => {
        let records = 0;
        const request = { moment: { seq: 90_000 } };
        for await (const reply of stream(client, LedgerService.stateAt, request, {
          silenceMs: patienceMs,
          signal: run.signal,
        }))
          records += reply.records.length;
        return records;
      };
      const [first, second, third] = [ask(), ask(), ask().catch((error: unknown) => error)];
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      const pod = { namespace: 'team-0', name: 'meanwhile', uid: 'uid-meanwhile' };
      const { allocations } = await call(client, IpamService.allocate, { pod, attachments }, options);
      expect(allocations).to.have.length(1);
      const expected = standingAfter(upTo(90_000)).size;
      expect(await Promise.all([first, second])).to.deep.equal([expected, expected]);
      expect(await third)
        .to.be.instanceOf(IpledgerError)
        .and.to.have.property('code', 'OVERLOADED');
    });
  });

  describe('why a Pod', () => {
    interface Why {
      readonly events: readonly Event[];
      readonly verdict: readonly string[];
      readonly lives: readonly { readonly uid: string }[];
    }

    it('is as it is: one that was re-created under its name many times', async () => {
      const held = lines.findLast(({ type: what }) => what === 'AddressTransferred') as Line;
      const name = `${held.data.attachment?.namespace}/${held.data.attachment?.pod}`;
      const { events: told, lives } = await json<Why>('why', name);
      expect(seqs(told)).to.deep.equal(newestFirst(lines, ofPod(name)));
      const uids = lines.filter(ofPod(name)).flatMap(({ data }) => data.uid ?? []);
      expect(lives.map(({ uid }) => uid)).to.have.members([...new Set(uids)]);
    });

    it('waits: one that was refused', async () => {
      const refused = lines.findLast(({ type: what }) => what === 'AllocationRefused') as Line;
      const name = `${refused.data.attachment?.namespace}/${refused.data.attachment?.pod}`;
      const { code, stdout } = await type('why', name);
      expect(code).to.equal(0);
      expect(stdout).to.match(/^ {2}it waits for an address for .*: .*10\.\d0\.0\.1/m);
    });

    it('is gone: one that was released long ago, and one that never was', async () => {
      const released = lines.find(({ type: what, seq }) => what === 'AddressReleased' && seq > 10_000) as Line;
      const name = `${released.data.attachment?.namespace}/${released.data.attachment?.pod}`;
      const { stdout } = await type('why', name);
      expect(stdout).to.contain(' was given ').and.to.contain(': pod-deleted');
      expect((await type('why', 'team-0/nobody')).code).to.equal(4);
    });
  });

  describe('what happens now', () => {
    it('from an event on, of one node', async () => {
      const expected = newestFirst(lines, onNode(lines, 'node-3'))
        .toReversed()
        .filter((seq) => seq >= 60_000);
      const found = await numbers('watch', '--from', '60000', '--node', 'node-3', '--count', '50');
      expect(found).to.deep.equal(expected.slice(0, 50));
    });

    it('as it happens', async () => {
      const watching = type('watch', '--pod', 'live', '--type', 'AddressAllocated', '--count', '1', '-o', 'json');
      let seen: CommandResult | undefined;
      void watching.then((ended) => (seen = ended));
      const attachments = [{ provider: 'wide.default', subnets: ['wide'] }];
      let attempt = 0;
      // Whoever watches begins some time after it was started
      await eventually(async () => {
        const pod = { namespace: 'team-0', name: 'live', uid: `uid-live-${attempt++}` };
        await call(client, IpamService.allocate, { pod, attachments }, options);
        await call(
          client,
          IpamService.release,
          { namespace: 'team-0', pod: 'live', podUid: pod.uid, cause: 'RELEASE_CAUSE_POD_DELETED' },
          options,
        );
        expect(seen).to.not.equal(undefined);
      }, patienceMs);
      expect(JSON.parse(seen?.stdout ?? '')).to.have.nested.property('addressAllocated.attachment.pod', 'live');
    });
  });
});
