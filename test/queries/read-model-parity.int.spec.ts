/**
 * Property test: for random histories and random queries, the allocator and the read model return
 * the same answers.
 */
import fc from 'fast-check';
import { readPages } from '../../lib/ledger-client/pages.ts';
import { addressAtInstant, buildAddressPeriods } from '../../cli/allocation-periods/allocation-periods.ts';
import { findHolder, type HolderSources } from '../../cli/allocation-periods/find-holder.ts';
import { decode, encode, type MessageInput } from '../../proto/codec.ts';
import {
  type Event,
  type HistoryReply,
  type HistoryRequest,
  IpamService,
  LedgerService,
  type NextAllocationsRequest,
} from '../../proto/generated/ipledger.ts';
import { expect } from 'chai';
import type { CallContext } from '../../lib/grpc/server/serve.ts';
import {
  applySubnet,
  type ServedAllocator,
  serveAllocator,
} from '../../services/allocator/grpc/testing/served-allocator.ts';
import { logOf } from '../../ledger/log/testing/running-writer.ts';
import { ledgerHandlers, type LedgerQueries } from '../../services/read-model/ledger-service.ts';
import { temporaryFile } from '../../services/read-model/testing/fake-events.ts';
import { verifyStore } from '../../services/read-model/store/verify-store.ts';
import { expectSameMaps } from './address-maps.ts';
import { buildReadModel } from './build-read-model.ts';
import { type LogLine, holdersAfter } from './full-scan.ts';

const never = new AbortController().signal;
const context: CallContext = { actor: 'anonymous', signal: never };

interface Act {
  readonly what: (typeof kinds)[number];
  readonly pod: number;
  /** Whether it names the uid of the previous Pod of this name. */
  readonly isLate: boolean;
  readonly node: number;
}

const upTo = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });
const kinds = ['allocate', 'bind', 'unbind', 'release', 'make again', 'reserve', 'quarantine', 'pass', 'drop'] as const;
const act: fc.Arbitrary<Act> = fc.record({
  what: fc.oneof(
    { arbitrary: fc.constantFrom(...kinds.slice(0, 3)), weight: 3 },
    { arbitrary: fc.constantFrom(...kinds.slice(3)), weight: 1 },
  ),
  pod: upTo(3),
  isLate: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.constant(true), weight: 1 }),
  node: upTo(2),
});

const queriesOf = (served: ServedAllocator): LedgerQueries => ({
  listPodAllocations: () => Promise.reject(new Error('the test does not request allocations')),
  readHead: async () => {
    const { position } = await served.call(LedgerService.getStatus, {});
    if (!position) throw new Error('no position');
    return position;
  },
  maxWaitMs: 10_000,
});

async function performAct(
  served: ServedAllocator,
  lives: number[],
  { what, pod: number, isLate, node }: Act,
): Promise<void> {
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
    pass: async () => served.advanceTime(61_000),
    drop: () => dropClaims(served, subnet),
  };
  await acts[what]().catch(() => undefined);
}

/** Drops the claims of a subnet whose cooldown is over. */
async function dropClaims(served: ServedAllocator, subnet: string): Promise<void> {
  served.advanceTime(3_601_000);
  const addresses = [...(served.replica.state.claims.get(subnet)?.keys() ?? [])];
  await served.allocator.writer()?.submit({
    command: (now) => ({ type: 'DropClaims', now, subnet, addresses }),
    answer: () => undefined,
    actor: 'allocator',
    signal: never,
  });
}

interface Question {
  readonly about: MessageInput<HistoryRequest>;
  readonly subnet: string;
  /** Time range, as fractions of the log. `after` moves both ends to 1 ms after the event. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly after: boolean;
  readonly pageSize: number;
}

const about: fc.Arbitrary<MessageInput<HistoryRequest>> = fc.oneof(
  upTo(4).map((pod) => ({ namespace: `team-${pod % 2}`, pod: `web-${pod}` })),
  upTo(3).map((node) => ({ node: `node-${node}` })),
  upTo(3).map((uid) => ({ owner: { kind: '', name: '', uid: `owner-${uid}` } })),
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

type SendQuery = (request: MessageInput<HistoryRequest>) => Promise<HistoryReply>;

async function readAllEvents(send: SendQuery, request: MessageInput<HistoryRequest>): Promise<Event[]> {
  const found: Event[] = [];
  for await (const { events } of readPages((pageToken) => send({ ...request, pageToken }))) {
    expect(events.length).to.be.at.most(request.pageSize ?? 100);
    found.push(...events);
  }
  return found;
}

/** Compares all answers of the allocator and of a read model, for one history. */
async function expectSameAnswers(acts: readonly Act[], questions: readonly Question[]): Promise<void> {
  const place = temporaryFile();
  await using served = await serveAllocator();
  await applySubnet(served, 'lan', { cidrBlock: '10.1.0.0/29', cooldownMs: 1 });
  await applySubnet(served, 'san', { cidrBlock: '10.2.0.0/29', cooldownMs: 1 });
  const lives: number[] = [];
  for (const each of acts) await performAct(served, lives, each);
  const model = await buildReadModel(served, place.file);
  const answers = ledgerHandlers(model, queriesOf(served));
  const fromAllocator: SendQuery = (request) => served.call(LedgerService.history, request);
  const fromReadModel: SendQuery = async (request) => {
    const complete = decode('HistoryRequest', encode('HistoryRequest', request)) as HistoryRequest;
    const reply = (await answers.history?.(complete, context)) ?? {};
    return decode('HistoryReply', encode('HistoryReply', reply)) as HistoryReply;
  };
  try {
    expect([...verifyStore(model.store, `${place.file}-verification`)]).to.have.length.above(0);
    const events = (await readAllEvents(fromAllocator, { pageSize: 100 })).toReversed();
    expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, position) => position + 1));
    await expectSameMaps(served, model, events);
    for (const each of questions) {
      const request = requestOf(each, events);
      const expected = await readAllEvents(fromAllocator, request);
      const found = await readAllEvents(fromReadModel, request);
      const what = JSON.stringify(request);
      expect(
        found.map(({ seq, type }) => `${seq} ${type}`),
        what,
      ).to.deep.equal(expected.map(({ seq, type }) => `${seq} ${type}`));
      expect(found, what).to.deep.equal(expected);
    }
  } finally {
    model.close();
    place.remove();
  }
}

/**
 * Compares the holder of each address at the time of each event: from its history, and from a full
 * scan of the log.
 */
async function expectSameHolders(acts: readonly Act[]): Promise<void> {
  await using served = await serveAllocator();
  await applySubnet(served, 'lan', { cidrBlock: '10.1.0.0/29', cooldownMs: 1 });
  await applySubnet(served, 'san', { cidrBlock: '10.2.0.0/29', cooldownMs: 1 });
  const lives: number[] = [];
  for (const each of acts) await performAct(served, lives, each);
  const lines = (await logOf(served.memory)).map(({ text }) => JSON.parse(text) as LogLine);
  const fromAllocator: SendQuery = (request) => served.call(LedgerService.history, request);
  for (const address of new Set(lines.flatMap(({ before }) => Object.keys(before)))) {
    const touching = lines.filter(({ before }) => address in before);
    const events = await readAllEvents(fromAllocator, { address, pageSize: 3 });
    expect(events.map(({ seq }) => seq)).to.deep.equal(touching.map(({ seq }) => seq).toReversed());
    const periods = buildAddressPeriods(events);
    for (const [index, { at: instant, subnet }] of touching.entries()) {
      if (touching[index + 1]?.at === instant) continue;
      const then = holdersAfter(touching.slice(0, index + 1)).get(`${subnet}/${address}`);
      expect(addressAtInstant(instant, periods).holder?.podUid ?? '', `${address} at ${instant}`).to.equal(
        then?.uid ?? '',
      );
    }
  }
}

/**
 * An index that names the seqs of `choose`, and the number of answers that began with one of them.
 */
function indexOf(served: ServedAllocator, choose: (request: NextAllocationsRequest) => Promise<readonly number[]>) {
  let usedCount = 0;
  const sources = {
    allocator: {
      call: (method: typeof LedgerService.history, request: MessageInput<HistoryRequest>) => {
        if ((request.newestSeq ?? 0) > 0) usedCount++;
        return served.call(method, request);
      },
    },
    readModel: { call: async (_: unknown, request: NextAllocationsRequest) => ({ seqs: await choose(request) }) },
  } as unknown as HolderSources;
  return { sources, usedCount: () => usedCount };
}

/**
 * Compares `findHolder` with the complete history, at and beside the time of each event: with a
 * right index, a wrong one and none. Returns how often the right index was used.
 */
async function expectSameHoldersByIndex(acts: readonly Act[], wrongSeqs: readonly number[]): Promise<number> {
  const place = temporaryFile();
  await using served = await serveAllocator();
  await applySubnet(served, 'lan', { cidrBlock: '10.1.0.0/29', cooldownMs: 1 });
  await applySubnet(served, 'san', { cidrBlock: '10.2.0.0/29', cooldownMs: 1 });
  const lives: number[] = [];
  for (const each of acts) await performAct(served, lives, each);
  const model = await buildReadModel(served, place.file);
  try {
    const handlers = ledgerHandlers(model, queriesOf(served));
    const right = indexOf(served, async (request) => (await handlers.nextAllocations?.(request, context))?.seqs ?? []);
    let turn = 0;
    const wrong = indexOf(served, async () => [1, wrongSeqs[turn++ % wrongSeqs.length] ?? 1]);
    const none: HolderSources = { allocator: right.sources.allocator };
    const lines = (await logOf(served.memory)).map(({ text }) => JSON.parse(text) as LogLine);
    const places = new Set(
      lines.flatMap(({ before, subnet }) => Object.keys(before).map((each) => `${subnet} ${each}`)),
    );
    for (const each of places) {
      const [subnet = '', address = ''] = each.split(' ');
      const events = await readAllEvents((request) => served.call(LedgerService.history, request), { address, subnet });
      const periods = buildAddressPeriods(events);
      for (const { at } of events)
        for (const instant of [-1, 0, 1].map((ms) => new Date(Date.parse(at) + ms).toISOString())) {
          const expected = { subnet, historyStartsAt: '', ...addressAtInstant(instant, periods) };
          for (const sources of [right.sources, wrong.sources, none]) {
            const { subnets: found } = await findHolder(sources, { address, subnet, instant });
            expect(found, `${each} at ${instant}`).to.deep.equal([expected]);
          }
        }
    }
    return right.usedCount();
  } finally {
    model.close();
    place.remove();
  }
}

describe('The holder of an address at a time', () => {
  it('The holder of an address at a time is the same from a part of the history as from all of it, also with a wrong index', async () => {
    const seqs = fc.array(fc.integer({ min: 0, max: 120 }), { minLength: 10, maxLength: 10 });
    const acts = fc.array(act, { minLength: 80, maxLength: 80 });
    const property = fc.asyncProperty(acts, seqs, async (...given) => {
      await expectSameHoldersByIndex(...given);
    });
    await fc.assert(property, { numRuns: 4, endOnFailure: true });
  });

  it('The holder of an address at a time is the same from the part of the history that is read as from all of it', async () => {
    const life = (['allocate', 'pass', 'release', 'pass', 'make again'] as const).map((what): Act => ({
      what,
      pod: 0,
      isLate: false,
      node: 1,
    }));
    // Each of the five addresses has two holders
    const usedCount = await expectSameHoldersByIndex(Array.from({ length: 10 }, () => life).flat(), [0, 3]);
    expect(usedCount).to.be.above(0);
  });

  it('The holder of an address at a time is the same from its history as from the complete log, also after claims were dropped', async () => {
    await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 80, maxLength: 80 }), expectSameHolders), {
      numRuns: 8,
      endOnFailure: true,
    });
  });
});

describe('A history query to the allocator and to the read model', () => {
  it('A history query to the allocator and to the read model has the same answer, page by page, for random histories', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 80, maxLength: 80 }),
        fc.array(question, { minLength: 20, maxLength: 20 }),
        expectSameAnswers,
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('A history query to the allocator and to the read model has the same answer for a container that is bound twice before it is unbound', async () => {
    const pod = { pod: 0, isLate: false };
    const acts: Act[] = [
      { ...pod, what: 'allocate', node: 1 },
      { ...pod, what: 'bind', node: 1 },
      { ...pod, what: 'release', node: 1 },
      { ...pod, what: 'allocate', node: 2 },
      { ...pod, what: 'bind', node: 2 },
      { ...pod, what: 'unbind', node: 2 },
    ];
    const everything = { subnet: '', since: undefined, until: undefined, after: false, pageSize: 7 };
    await expectSameAnswers(acts, [
      { ...everything, about: { node: 'node-1' } },
      { ...everything, about: { node: 'node-2' } },
    ]);
  });
});
