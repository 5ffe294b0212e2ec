import { expect } from 'chai';
import type { LedgerEvent } from '../../../ledger/ledger-events.ts';
import { defaultCooldownTimes } from '../../../../../ledger/domain/commands/command.ts';
import { appliedSubnet, until } from '../../../testing/fakes.ts';
import { podWithNetwork } from '../testing/pod-controller-world.ts';
import { Waiters } from './waiters.ts';

describe('a Pod that requests any address', () => {
  const subnets = { get: (name: string) => appliedSubnet(name), names: () => [] };
  const plan = {
    attachments: [{ subnets: ['macvlan'] }],
    detached: [],
    ipamClaims: [],
    problems: [],
    requestedProviders: new Set<string>(),
    unserved: [],
    warnings: [],
    topics: new Set<string>(),
  };
  const createdAt = (second: number, name = `p${second}`) =>
    podWithNetwork(name, { metadata: { creationTimestamp: `2026-01-31T08:00:0${second}Z` } });
  const longerThanRecent = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));
  const createWaiters = (): Waiters =>
    new Waiters({ subnets, wake: () => undefined, signal: new AbortController().signal });

  it('a Pod that requests any address yields to an older waiting Pod until that Pod has requested once, however long it takes', async () => {
    const waiters = createWaiters();
    const [old, young] = [createdAt(1), createdAt(2)];
    waiters.wait('default/p1', old, new Set(['any:macvlan']));
    await longerThanRecent();
    const ahead = (): string[] => waiters.waitersAhead('default/p2', young, plan);
    expect([ahead(), ahead()]).to.deep.equal([['default/p1'], ['default/p1']]);
    waiters.markRequested('default/p1');
    await longerThanRecent();
    expect(ahead()).to.deep.equal([]);
    // Yields again after its own request.
    waiters.markRequested('default/p2');
    expect(ahead()).to.deep.equal(['default/p1']);
  });

  it('a Pod that requests any address yields to at most the four oldest Pods of its queue', async () => {
    const waiters = createWaiters();
    for (const second of [1, 2, 3, 4, 5, 6])
      waiters.wait(`default/p${second}`, createdAt(second), new Set(['any:macvlan']));
    await longerThanRecent();
    expect(waiters.waitersAhead('default/p7', createdAt(7), plan)).to.deep.equal(
      [1, 2, 3, 4].map((second) => `default/p${second}`),
    );
  });

  it('of two Pods that request any address, one that was created again yields, and the other does not yield to it', async () => {
    const waiters = createWaiters();
    waiters.wait('default/p1', createdAt(1), new Set(['any:macvlan']));
    waiters.wait('default/p2', createdAt(2), new Set(['any:macvlan']));
    await longerThanRecent();
    expect(waiters.waitersAhead('default/p1', createdAt(3, 'p1'), plan)).to.deep.equal(['default/p2']);
    expect(waiters.waitersAhead('default/p2', createdAt(2), plan)).to.deep.equal([]);
  });
});

describe('a waiting Pod after an event', () => {
  const withCooldown = (cooldownMs: number) => {
    const { spec, ...subnet } = appliedSubnet('macvlan');
    return { ...subnet, spec: { ...spec, cooldownMs } };
  };
  const released = (...addresses: string[]): LedgerEvent => {
    return {
      kind: 'released',
      seq: 7,
      subnet: 'macvlan',
      namespace: 'default',
      pod: 'a',
      uid: 'u',
      addresses,
    };
  };
  const unbound = (address: string): LedgerEvent => {
    return { kind: 'unbound', subnet: 'macvlan', namespace: 'default', pod: 'a', addresses: [address] };
  };
  const gathered = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 80));

  /** Waiters of which each waits for one topic, with the Pods that are woken. */
  function open(topics: Readonly<Record<string, string>>, cooldownMs = 100) {
    const woken: string[] = [];
    const waiters = new Waiters({
      subnets: { get: () => withCooldown(cooldownMs), names: () => [] },
      wake: (pod) => void woken.push(pod),
      // Probes no cooldowns, so that only events wake the Pods.
      signal: AbortSignal.abort(),
    });
    waiters.start();
    for (const [pod, topic] of Object.entries(topics))
      waiters.wait(`default/${pod}`, podWithNetwork(pod), new Set([topic]));
    return { waiters, woken };
  }

  /** Returns the delays of the timers that `act` starts. */
  function delaysOf(act: () => void): number[] {
    const timer = globalThis.setTimeout;
    const delays: number[] = [];
    try {
      globalThis.setTimeout = ((run: () => void, ms = 0) => {
        delays.push(ms);
        return timer(run, 0);
      }) as typeof setTimeout;
      act();
    } finally {
      globalThis.setTimeout = timer;
    }
    return delays;
  }

  it('a waiting Pod is tried after the cooldown of a freed address, and not before the clock of the ledger has reached it', () => {
    const { waiters } = open({ any: 'any:macvlan' });
    expect(Math.max(...delaysOf(() => waiters.onEvent(released('10.0.0.2'))))).to.be.above(100);
  });

  it('a waiting Pod for any address is tried as soon as one that names the freed address, if there is no cooldown', () => {
    const { waiters } = open({ any: 'any:macvlan', named: 'named:10.0.0.2' }, 0);
    expect(new Set(delaysOf(() => waiters.onEvent(released('10.0.0.2'))))).to.have.property('size', 1);
    const cooling = open({ any: 'any:macvlan', named: 'named:10.0.0.2' }, 3_600_000).waiters;
    const unreserved = { kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web' } as const;
    expect(new Set(delaysOf(() => cooling.onEvent(unreserved)))).to.have.property('size', 1);
  });

  it('a waiting Pod of a Subnet that is not known yet is tried after the cooldown that Subnets have by default', () => {
    const waiters = new Waiters({
      subnets: { get: () => undefined, names: () => [] },
      wake: () => undefined,
      signal: AbortSignal.abort(),
    });
    const delays = delaysOf(() => waiters.onEvent(released('10.0.0.2')));
    expect(Math.max(...delays)).to.be.above(defaultCooldownTimes.cooldownMs);
  });

  it('a waiting Pod is woken only after the start of the watcher, whose start tries all Pods', async () => {
    const woken: string[] = [];
    const { signal } = new AbortController();
    const wake = (pod: string): void => void woken.push(pod);
    const waiters = new Waiters({ subnets: { get: () => withCooldown(0), names: () => [] }, wake, signal });
    waiters.wait('default/a', podWithNetwork('a'), new Set(['subnet:macvlan']));
    waiters.wake('subnet:macvlan');
    await gathered();
    expect(woken).to.deep.equal([]);
  });

  describe('with a clock of the spec', () => {
    const { setInterval, clearInterval } = globalThis;
    let [now, tick] = [0, (): void => undefined];
    beforeEach(() => {
      now = 10_000;
      performance.now = () => now;
      globalThis.setInterval = ((run: () => void) => {
        tick = run;
        return { unref: () => run };
      }) as unknown as typeof setInterval;
      globalThis.clearInterval = (timer) => void (Object.is(timer, tick) && (tick = () => undefined));
    });
    afterEach(() => {
      Reflect.deleteProperty(performance, 'now');
      Object.assign(globalThis, { setInterval, clearInterval });
    });

    it('a waiting Pod is tried while the cooldown of an address may end that was released before the start, and until the watcher stops', async () => {
      const woken: string[] = [];
      const stop = new AbortController();
      const subnets = { get: () => withCooldown(3_000), names: () => ['macvlan'] };
      const waiters = new Waiters({ subnets, wake: (pod) => void woken.push(pod), signal: stop.signal });
      waiters.wait('default/a', podWithNetwork('a'), new Set(['any:macvlan']));
      waiters.start();
      const triesAt = async (ms: number): Promise<number> => {
        woken.length = 0;
        now = 10_000 + ms;
        tick();
        await gathered();
        return woken.length;
      };
      expect(await triesAt(500)).to.equal(1);
      expect(await triesAt(3_500), 'the first interval after the last cooldown').to.equal(1);
      expect(await triesAt(3_501)).to.equal(0);
      stop.abort();
      expect(await triesAt(600)).to.equal(0);
    });
  });

  it('a waiting Pod is not tried again after it has left', async () => {
    const { waiters, woken } = open({ left: 'named:10.0.0.2', stays: 'named:10.0.0.2' });
    waiters.remove('default/left');
    waiters.onEvent(released('10.0.0.2'));
    await gathered();
    expect([woken, waiters.size]).to.deep.equal([['default/stays'], 1]);
  });

  it('a waiting Pod is woken by the release of its MAC, whose address may have no container', async () => {
    const { waiters, woken } = open({ mac: 'mac:macvlan/02:00:00:00:00:0a', other: 'mac:macvlan/' });
    waiters.onMacReleased('macvlan', '', ['10.0.0.3']);
    waiters.onMacReleased('macvlan', '02:00:00:00:00:0A', ['10.0.0.2']);
    await until(() => woken.length > 0);
    await gathered();
    expect(woken).to.deep.equal(['default/mac']);
  });

  it('a waiting Pod is woken by the end of the container that used its MAC, for the 10,000 addresses that were released last', async () => {
    const { waiters, woken } = open({
      first: 'mac:macvlan/first',
      second: 'mac:macvlan/second',
      last: 'mac:macvlan/last',
    });
    const macOf = (index: number): string => ['first', 'second'][index] ?? (index === 10_000 ? 'last' : 'other');
    for (let index = 0; index <= 10_000; index++) waiters.onMacReleased('macvlan', macOf(index), [`address-${index}`]);
    await gathered();
    woken.length = 0;
    for (const index of [0, 1, 10_000]) waiters.onEvent(unbound(`address-${index}`));
    await gathered();
    expect(woken.toSorted()).to.deep.equal(['default/last', 'default/second']);
  });

  for (const [kind, event] of [
    [
      'a reservation is cancelled',
      { kind: 'unreserved', subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web' },
    ],
    ['a quarantine is lifted', { kind: 'unquarantined', subnet: 'macvlan', address: '10.0.0.2' }],
  ] as const)
    it(`a waiting Pod is tried at once when ${kind}, because the address has no cooldown`, async () => {
      const topics = { named: 'named:10.0.0.2', any: 'any:macvlan', other: 'any:other', address: 'named:10.0.0.3' };
      const { waiters, woken } = open(topics, 3_600_000);
      waiters.onEvent(event);
      await until(() => woken.length === 2);
      expect(woken.toSorted()).to.deep.equal(['default/any', 'default/named']);
    });

  const pool = { name: 'web', spec: { subnet: 'macvlan', ips: ['10.0.0.2'], namespaces: [] }, source: undefined };
  it('a waiting Pod is not tried when addresses are transferred to another uid, because none is free', async () => {
    const { waiters, woken } = open({ any: 'any:macvlan', witness: 'pool:web' }, 0);
    waiters.onEvent(released());
    waiters.onEvent({ kind: 'pool-configured', pool });
    await until(() => woken.includes('default/witness'));
    expect(woken).to.deep.equal(['default/witness']);
  });

  const reserved = { seq: 7, subnet: 'macvlan', address: '10.0.0.2', reservedFor: 'vip/web', reason: '', mac: '' };
  const woken: [what: string, event: LedgerEvent, topics: readonly string[]][] = [
    ['the Vip that it names gets an address', { kind: 'reserved', reserved }, ['vip:web']],
    [
      'the IPPool or Subnet that it names gets other addresses by a change of an IPPool',
      { kind: 'pool-configured', pool },
      ['pool:web', 'subnet:macvlan'],
    ],
    [
      'an IPPool of its Subnet is deleted',
      { kind: 'pool-retired', pool: 'web', subnet: 'macvlan' },
      ['subnet:macvlan'],
    ],
    [
      'its Subnet or a Subnet of its provider is changed',
      { kind: 'subnet-configured', subnet: appliedSubnet('macvlan') },
      ['subnet:macvlan', 'provider:macvlan.default'],
    ],
  ];
  for (const [what, event, topics] of woken)
    it(`a waiting Pod is woken when ${what}`, async () => {
      const others = ['vip:other', 'pool:other', 'subnet:other', 'provider:other'];
      const { waiters, woken } = open(Object.fromEntries([...topics, ...others].map((topic) => [topic, topic])));
      waiters.onEvent(event);
      await until(() => woken.length === topics.length);
      expect(woken).to.have.members(topics.map((topic) => `default/${topic}`));
    });
});
