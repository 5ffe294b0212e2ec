/**
 * The end of a run: no fault continues. Then an allocator answers, its answers equal the log, keys
 * and memory equal a fold of the log, nothing leaks, and each free address can be had.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import { describeState } from '../../../ledger/domain/testing/describe-state.ts';
import { restoreState } from '../../../ledger/domain/state/snapshot.ts';
import type { State } from '../../../ledger/domain/state/state.ts';
import { loadAll } from '../../../ledger/log/testing/load-all.ts';
import { type Head, parseEvent } from '../../../ledger/log/chain/chain.ts';
import { historyStart } from '../../../ledger/domain/values/ledger.ts';
import { errorMessage, isPositionGone } from '../../../lib/errors.ts';
import { calm } from '../kernel/faults.ts';
import { silence } from '../kernel/network-call.ts';
import { type Command, command, type CommandSource } from './commands.ts';
import type { LedgerRun } from './ledger-run.ts';
import { cooldownMs, subnetNames, subnets } from './subnets.ts';

/** A takeover, and the silence after which a broken connection is given up. */
const recoveryMs = 60_000;
const never = new AbortController().signal;

/** Runs the end. The world has the first violation. */
export async function endQuietly(run: LedgerRun, source: CommandSource): Promise<void> {
  const { world } = run;
  endFaults(run);
  let isDone = false;
  const checker = world.machine('checker').start('checker', async () => {
    await check(run, source);
    isDone = true;
  });
  await world.runUntil(() => isDone || !checker.isAlive, 10 * recoveryMs);
  if (world.violation || isDone) return;
  const reason = checker.isAlive ? 'the checks do not end' : errorMessage(checker.failure);
  world.fail('liveness', reason);
}

function endFaults(run: LedgerRun): void {
  const { world, cluster, heal } = run;
  world.trace('the faults end');
  run.endFaultsAtCommit();
  world.faults = calm;
  for (const each of heal) each();
  for (const name of cluster.names) world.machine(name).setClock();
  for (const program of cluster.running) program.resume();
  cluster.startAll();
}

async function check(run: LedgerRun, source: CommandSource): Promise<void> {
  const { world, log, cluster } = run;
  await untilAnswered(run, source);
  await until(world, () => run.pending === 0, 'all commands get an outcome');
  // Until then a server may execute what its client has given up
  const { minMs, rangeMs } = silence;
  await sleep(Math.max(0, cluster.network.brokeAt + minMs + rangeMs - world.now));
  const isServed = (name: string): boolean => cluster.replicaOf(name)?.state.fenced.size === 0;
  await until(world, () => cluster.names.every(isServed), 'each address is served again');
  await compareStates(run);
  await compareHistory(run);
  await compareAnswers(run);
  await releaseAll(run);
  for (let tries = 0; tries < 3 && log.book.held.length + log.book.bound.length > 0; tries++) {
    // A fenced address is skipped
    await sleep(fencedMs);
    await releaseAll(run);
  }
  if (log.book.held.length > 0) world.fail('leak', `after all releases, ${JSON.stringify(log.book.held)}`);
  if (log.book.bound.length > 0) world.fail('leak', `after all containers ended, ${log.book.bound.join()} are bound`);
  await sleep(cooldownMs + 100);
  await useAllAddresses(run, source);
  await compareStates(run);
}

/** A fenced address is served again within seconds. */
const fencedMs = 6_000;

async function expectOk({ world, clients }: LedgerRun, each: Command): Promise<object | undefined> {
  for (let tries = 0; ; tries++) {
    const answer = await clients[3]?.send(each, 5);
    if (answer && 'reply' in answer) return answer.reply;
    // The address of a retired Subnet of the network cools down for a minute
    const waitMs = { ADDRESS_FENCED: fencedMs, SUBNET_FULL: 61_000, UNAVAILABLE: 3_000 }[answer?.code ?? ''];
    if (tries === 5 || waitMs === undefined) {
      world.fail('liveness', `without faults, "${each.what}" fails: ${JSON.stringify(answer)}`);
      return undefined;
    }
    await sleep(waitMs);
  }
}

/** A client gets an answer within the time of a takeover. */
async function untilAnswered({ world, clients }: LedgerRun, source: CommandSource): Promise<void> {
  const endAt = performance.now() + recoveryMs;
  for (;;) {
    const answer = await clients[3]?.send(source.list(), 1);
    if (answer && 'reply' in answer) return;
    if (performance.now() > endAt)
      return world.fail(
        'liveness',
        `no allocator answers for ${recoveryMs} ms after the faults: ${JSON.stringify(answer)}`,
      );
    await sleep(500);
  }
}

async function until(world: LedgerRun['world'], isDone: () => boolean, what: string): Promise<void> {
  for (const endAt = performance.now() + recoveryMs; !isDone();) {
    if (performance.now() > endAt)
      return world.fail('liveness', `not within ${recoveryMs} ms after the faults: ${what}`);
    await sleep(100);
  }
}

/** restore(keys) = fold(log), and so is the memory of each replica. */
async function compareStates(run: LedgerRun): Promise<void> {
  const { world, cluster, log } = run;
  const { names } = cluster;
  const isCurrent = (): boolean => names.every((name) => cluster.replicaOf(name)?.head.hash === log.head.hash);
  await until(world, isCurrent, 'each replica has the last event');
  // The writer decides ahead of what is committed, and seals events by itself
  let difference: string | undefined = '';
  for (let tries = 0; difference !== undefined && tries < 5; tries++) {
    if (tries > 0) await sleep(300);
    difference = await findDifference(run);
  }
  if (difference !== undefined) world.fail('fold', difference);
}

async function findDifference({ cluster, log, reader }: LedgerRun): Promise<string | undefined> {
  const snapshot = await loadAll(reader, never);
  const places: [string, Head, State][] = [['what the keys restore', snapshot.head, restoreState(snapshot)]];
  for (const name of cluster.names) {
    const replica = cluster.replicaOf(name);
    if (replica) places.push([`the memory of ${name}`, replica.head, replica.state]);
  }
  const folded = describeState(log.state);
  for (const [what, head, state] of places) {
    const found = describeState(state);
    if (head.hash !== log.head.hash) return `${what} is at event ${head.seq}, and the log at event ${log.head.seq}`;
    if (!isDeepStrictEqual(found, folded))
      return `${what} differs from the fold of the log: ${firstDifference(found, folded)}`;
  }
  return undefined;
}

function firstDifference(one: object, other: object): string {
  for (const [key, value] of Object.entries(one)) {
    const expected = (other as Record<string, unknown>)[key];
    if (!isDeepStrictEqual(value, expected))
      return `${key} ${JSON.stringify(value)} instead of ${JSON.stringify(expected)}`;
  }
  return 'a missing part';
}

/** Each event that is not dropped is read as it was appended, also from the archive. */
async function compareHistory({ world, log, history, reader }: LedgerRun): Promise<void> {
  let next = 1;
  for (let tries = 0; next <= log.head.seq; tries++) {
    next = Math.max(next, historyStart(await reader.segments(1, never)));
    try {
      for await (const page of history.read(next, never))
        for (const { text } of page) {
          if (parseEvent(text).hash !== log.hashOf(next))
            return world.fail('sealed events', `event ${next} is read as ${text.slice(0, 200)}`);
          next++;
        }
    } catch (error) {
      // The writer may drop a segment at this moment
      if (!isPositionGone(error) || tries === 5) throw error;
    }
  }
}

/** What the API lists equals the address book. */
async function compareAnswers(run: LedgerRun): Promise<void> {
  const { world, log } = run;
  const bindings = (await expectOk(run, command('list the bindings', IpamService.listBindings, {}))) as
    api.ListBindingsReply | undefined;
  const bound = bindings?.bindings
    .flatMap(({ binding, subnet, addresses }) =>
      addresses.map((address) => `${binding?.containerId}/${binding?.interface} ${subnet}/${address}`),
    )
    .toSorted();
  if (bound && bound.join() !== log.book.bound.join())
    world.fail('true answer', `the log has the bindings ${log.book.bound.join()}, and the answer ${bound.join()}`);
  const reservations = (await expectOk(run, command('list the reservations', IpamService.listReservations, {}))) as
    api.ListReservationsReply | undefined;
  const reserved = reservations?.records
    .map(({ subnet, address, reservation }) => `${reservation?.reservedFor} ${subnet}/${address}`)
    .toSorted();
  if (reserved && reserved.join() !== log.book.reserved.join())
    world.fail(
      'true answer',
      `the log has the reservations ${log.book.reserved.join()}, and the answer ${reserved.join()}`,
    );
}

async function releaseAll(run: LedgerRun): Promise<void> {
  const { book } = run.log;
  for (const { pod, uid } of book.held) {
    const request = { namespace: 'default', pod, podUid: uid, cause: 'RELEASE_CAUSE_POD_DELETED' };
    await expectOk(run, command(`release ${uid}`, IpamService.release, request));
  }
  for (const sandbox of new Set(book.bound.map((each) => each.split(' ')[0] ?? ''))) {
    const [containerId, name] = sandbox.split('/');
    const request = { namespace: 'default', pod: 'a', provider: 'lan.default', containerId, interface: name };
    await expectOk(run, command(`unbind ${sandbox}`, IpamService.unbind, request));
  }
  for (const each of book.reserved) {
    const [owner = '', place = ''] = each.split(' ');
    const [subnet, address] = place.split('/');
    const request = { subnet, addresses: [address], reservedFor: owner, reason: 'end' };
    await expectOk(run, command(`unreserve ${each}`, IpamService.unreserve, request));
  }
  for (const each of book.quarantined) {
    const [subnet, address] = each.split('/');
    await expectOk(run, command(`unquarantine ${each}`, IpamService.unquarantine, { subnet, address, reason: 'end' }));
  }
}

/** Each address of a Subnet is allocated once, when all of them are free. */
async function useAllAddresses(run: LedgerRun, source: CommandSource): Promise<void> {
  const [name] = subnetNames;
  if (name === undefined) return;
  await expectOk(run, command('delete pool blue', SubnetsService.deletePool, { name: 'blue' }));
  await expectOk(run, source.applySubnet(name, true));
  const { provider, addresses } = subnets[name];
  const found = new Set<string>();
  for (const index of addresses.keys()) {
    const pod = { namespace: 'default', name: `last-${index}`, uid: `last-${index}` };
    const request = { pod, attachments: [{ provider, subnets: [name] }] };
    const reply = (await expectOk(run, command(`allocate ${pod.uid} in ${name}`, IpamService.allocate, request))) as
      api.AllocateReply | undefined;
    for (const each of reply?.allocations ?? []) for (const { address } of each.addresses) found.add(address);
  }
  if (!run.world.violation && found.size !== addresses.length)
    run.world.fail('liveness', `of ${addresses.join()}, only ${[...found].join()} were allocated`);
}
