/** Allocator and read model give the same answers, whatever happened and whatever is asked: histories and questions at random. */
import { pino } from 'pino';
import fc from 'fast-check';
import { everyPage } from '../../cli/pages.ts';
import { at, tenuresOf } from '../../cli/tenure.ts';
import { decode, encode, type Input } from '../../proto/codec.ts';
import {
  type Event,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  LedgerService,
} from '../../proto/ipledger.ts';
import { expect } from 'chai';
import { stream } from '../../lib/rpc.ts';
import type { CallContext } from '../../lib/serving/serve.ts';
import { applySubnet, type Served, serveAllocator } from '../../services/allocator/grpc/specification.ts';
import { logOf } from '../../services/allocator/ledger/specification.ts';
import { answersOf } from '../../services/index/answers.ts';
import { temporaryFile } from '../../services/index/fakes.ts';
import { follow } from '../../services/index/follow.ts';
import { Model } from '../../services/index/model.ts';
import { type Line, standingAfter } from './scan.ts';

const never = new AbortController().signal;
const context: CallContext = { actor: 'anonymous', signal: never };

interface Act {
  readonly what: (typeof kinds)[number];
  readonly pod: number;
  /** Of the Pod before it, of the same name. */
  readonly isLate: boolean;
  readonly node: number;
}

const few = (most: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: most });
const kinds = ['allocate', 'bind', 'unbind', 'release', 'make again', 'reserve', 'quarantine', 'pass', 'drop'] as const;
const act: fc.Arbitrary<Act> = fc.record({
  what: fc.oneof(
    { arbitrary: fc.constantFrom(...kinds.slice(0, 3)), weight: 3 },
    { arbitrary: fc.constantFrom(...kinds.slice(3)), weight: 1 },
  ),
  pod: few(3),
  isLate: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.constant(true), weight: 1 }),
  node: few(2),
});

/** How often the Pod of each number was made again. What is refused is part of the story. */
async function happen(served: Served, lives: number[], { what, pod: number, isLate, node }: Act): Promise<void> {
  const life = (lives[number] ?? 0) - (isLate ? 1 : 0);
  const [namespace, name, uid] = [`team-${number % 2}`, `web-${number}`, `uid-${number}-${life}`];
  const subnet = number % 2 === 0 ? 'lan' : 'san';
  const provider = `${subnet}.default`;
  const containerId = `container-${number}-${life}`;
  const owner = {
    kind: number < 2 ? 'StatefulSet' : 'ReplicaSet',
    name: `web-${number % 2}`,
    uid: `owner-${number % 3}`,
  };
  const pod = { namespace, name, uid, node: node === 0 ? '' : `node-${node}`, ...(number < 3 && { owner }) };
  const sandbox = { namespace, pod: name, podUid: uid, provider, containerId, interface: 'net1' };
  const addresses = [subnet === 'lan' ? '10.1.0.3' : '10.2.0.3'];
  const acts = {
    allocate: () => served.call(IpamService.allocate, { pod, attachments: [{ provider, subnets: [subnet] }] }),
    bind: () => served.call(IpamService.bind, { ...sandbox, node: `node-${node}`, bootId: `boot-${life}` }),
    unbind: () => served.call(IpamService.unbind, sandbox),
    release: () =>
      served.call(IpamService.release, { namespace, pod: name, podUid: uid, cause: 'RELEASE_CAUSE_POD_DELETED' }),
    'make again': async () => (lives[number] = (lives[number] ?? 0) + 1),
    reserve: () => served.call(IpamService.reserve, { subnet, addresses, reservedFor: 'vip/web' }),
    quarantine: () => served.call(IpamService.quarantine, { subnet, address: addresses[0] ?? '', reason: 'a printer' }),
    pass: async () => served.pass(61_000),
    drop: () => drop(served, subnet),
  };
  await acts[what]().catch(() => undefined);
}

/** Has the writer drop whatever rests in a subnet. */
async function drop(served: Served, subnet: string): Promise<void> {
  served.pass(3_601_000);
  const addresses = [...(served.replica.state.claims.get(subnet)?.keys() ?? [])];
  await served.allocator.writer()?.submit({
    command: (now) => ({ type: 'DropClaims', now, subnet, addresses }),
    answer: () => undefined,
    actor: 'allocator',
    signal: never,
  });
}

interface Question {
  readonly about: Input<HistoryRequest>;
  readonly subnet: string;
  /** Between which of the events, in parts of the whole; and whether at their instants or just after. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly after: boolean;
  readonly pageSize: number;
}

const about: fc.Arbitrary<Input<HistoryRequest>> = fc.oneof(
  few(4).map((pod) => ({ namespace: `team-${pod % 2}`, pod: `web-${pod}` })),
  few(3).map((node) => ({ node: `node-${node}` })),
  few(3).map((uid) => ({ owner: { kind: '', name: '', uid: `owner-${uid}` } })),
  fc
    .record({ kind: fc.constantFrom('', 'StatefulSet', 'ReplicaSet'), name: fc.constantFrom('web-0', 'web-1') })
    .chain(({ kind, name }) =>
      fc.constantFrom('', 'team-0', 'team-1').map((namespace) => ({ namespace, owner: { kind, name, uid: '' } })),
    ),
  fc.constant({}),
);
const part = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
const question: fc.Arbitrary<Question> = fc.record({
  about,
  subnet: fc.constantFrom('', '', 'lan', 'san', 'unknown'),
  since: part,
  until: part,
  after: fc.boolean(),
  pageSize: fc.integer({ min: 1, max: 7 }),
});

function requestOf({ about: subject, subnet, since, until, after, pageSize }: Question, events: readonly Event[]) {
  const instant = (where: number | undefined): string => {
    if (where === undefined) return '';
    const at = events[Math.round(where * (events.length - 1))]?.at ?? '';
    return new Date(Date.parse(at) + (after ? 1 : 0)).toISOString();
  };
  return { ...subject, subnet, since: instant(since), until: instant(until), pageSize };
}

type Ask = (request: Input<HistoryRequest>) => Promise<HistoryReply>;

async function everyEvent(ask: Ask, request: Input<HistoryRequest>): Promise<Event[]> {
  const found: Event[] = [];
  for await (const { events } of everyPage((pageToken) => ask({ ...request, pageToken }))) {
    expect(events.length).to.be.at.most(request.pageSize ?? 100);
    found.push(...events);
  }
  return found;
}

/** A read model that has followed the ledger to its head. */
async function modelOf(served: Served, file: string): Promise<Model> {
  const model = new Model(file);
  const following = new AbortController();
  const ended = follow({
    model,
    from: 1,
    watch: (fromSeq, signal) => stream(served.client, LedgerService.watch, { fromSeq }, { silenceMs: 20_000, signal }),
    log: pino({ level: 'silent' }),
    signal: following.signal,
  });
  await model.reached(served.replica.head.seq, never);
  following.abort();
  await ended;
  return model;
}

/** All that happened, told by both. */
async function expectSameAnswers(acts: readonly Act[], questions: readonly Question[]): Promise<void> {
  const place = temporaryFile();
  await using served = await serveAllocator();
  await applySubnet(served, 'lan', { cidrBlock: '10.1.0.0/29', cooldownMs: 1 });
  await applySubnet(served, 'san', { cidrBlock: '10.2.0.0/29', cooldownMs: 1 });
  const lives: number[] = [];
  for (const each of acts) await happen(served, lives, each);
  const model = await modelOf(served, place.file);
  const answers = answersOf(model, () => Promise.reject(new Error('nobody asks what a Pod holds')));
  const allocator: Ask = (request) => served.call(LedgerService.history, request);
  const index: Ask = async (request) => {
    const whole = decode('HistoryRequest', encode('HistoryRequest', request)) as HistoryRequest;
    const reply = (await answers.history?.(whole, context)) ?? {};
    return decode('HistoryReply', encode('HistoryReply', reply)) as HistoryReply;
  };
  try {
    const events = (await everyEvent(allocator, { pageSize: 100 })).toReversed();
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, position) => position + 1));
    for (const each of questions) {
      const request = requestOf(each, events);
      const known = await everyEvent(allocator, request);
      const found = await everyEvent(index, request);
      const what = JSON.stringify(request);
      expect(
        found.map(({ seq, type }) => `${seq} ${type}`),
        what,
      ).to.deep.equal(known.map(({ seq, type }) => `${seq} ${type}`));
      expect(found, what).to.deep.equal(known);
    }
  } finally {
    model.close();
    place.remove();
  }
}

/** Who had each address, at each instant at which something happened, by its history and by a look through the whole log. */
async function expectWhoHad(acts: readonly Act[]): Promise<void> {
  await using served = await serveAllocator();
  await applySubnet(served, 'lan', { cidrBlock: '10.1.0.0/29', cooldownMs: 1 });
  await applySubnet(served, 'san', { cidrBlock: '10.2.0.0/29', cooldownMs: 1 });
  const lives: number[] = [];
  for (const each of acts) await happen(served, lives, each);
  const lines = (await logOf(served.memory)).map(({ text }) => JSON.parse(text) as Line);
  const ask: Ask = (request) => served.call(LedgerService.history, request);
  for (const address of new Set(lines.flatMap(({ before }) => Object.keys(before)))) {
    const touching = lines.filter(({ before }) => address in before);
    const events = await everyEvent(ask, { address, pageSize: 3 });
    expect(events.map(({ seq }) => seq)).to.deep.equal(touching.map(({ seq }) => seq).toReversed());
    const tenures = tenuresOf(events);
    for (const [index, { at: instant, subnet }] of touching.entries()) {
      if (touching[index + 1]?.at === instant) continue;
      const then = standingAfter(touching.slice(0, index + 1)).get(`${subnet}/${address}`);
      expect(at(instant, tenures).holder?.podUid ?? '', `${address} at ${instant}`).to.equal(then?.uid ?? '');
    }
  }
}

describe('Who had an address', () => {
  it('has the answer of the whole log, also where claims were dropped', async () => {
    await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 80, maxLength: 80 }), expectWhoHad), {
      numRuns: 8,
      endOnFailure: true,
    });
  });
});

describe('A question to the allocator and to the read model', () => {
  it('has the same answer, page by page, whatever happened', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 80, maxLength: 80 }),
        fc.array(question, { minLength: 20, maxLength: 20 }),
        expectSameAnswers,
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('has the same answer about a container that is bound twice before all of it ends', async () => {
    const pod = { pod: 0, isLate: false };
    const acts: Act[] = [
      { ...pod, what: 'allocate', node: 1 },
      { ...pod, what: 'bind', node: 1 },
      { ...pod, what: 'release', node: 1 },
      { ...pod, what: 'allocate', node: 2 },
      { ...pod, what: 'bind', node: 2 },
      { ...pod, what: 'unbind', node: 2 },
    ];
    const whole = { subnet: '', since: undefined, until: undefined, after: false, pageSize: 7 };
    await expectSameAnswers(acts, [
      { ...whole, about: { node: 'node-1' } },
      { ...whole, about: { node: 'node-2' } },
    ]);
  });
});
