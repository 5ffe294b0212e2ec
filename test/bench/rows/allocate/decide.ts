/**
 * The time of one decision in Subnets of several sizes and fills: the pure function, without etcd
 * and gRPC.
 */
import { decide } from '../../../../ledger/domain/decide/decide.ts';
import type { Allocate, Command } from '../../../../ledger/domain/commands/command.ts';
import { evolve } from '../../../../ledger/domain/events/registry.ts';
import { initialState, type State } from '../../../../ledger/domain/state/state.ts';
import { UndoLog } from '../../../../ledger/domain/state/undo-log.ts';
import { createMeasurement, type Measurement, quantile } from '../../measurement.ts';
import { benchProvider, benchSubnet } from './load.ts';

interface Network {
  readonly name: string;
  readonly cidrBlock: string;
  /** Addresses that Pods hold at each fill. */
  readonly held: readonly { readonly fill: string; readonly count: number }[];
}

/** Fills of a Subnet with this number of usable addresses. */
const fillsOf = (usable: number): Network['held'] => [
  { fill: '0 %', count: 0 },
  { fill: '50 %', count: Math.floor(usable / 2) },
  { fill: '99.9 %', count: Math.min(usable - 1, Math.floor(usable * 0.999)) },
];

const small: Network = { name: '/24', cidrBlock: '10.0.0.0/24', held: fillsOf(253) };
const networks: readonly Network[] = [
  small,
  { name: '/16', cidrBlock: '10.0.0.0/16', held: fillsOf(65_533) },
  { name: '/12', cidrBlock: '10.0.0.0/12', held: fillsOf(1_048_573) },
  { name: '/64', cidrBlock: 'fd00::/64', held: [{ fill: '10^6 held', count: 1_000_000 }] },
];

const samples = 20_000;
const startTime = Date.parse('2026-01-31T08:00:00.000Z');
const namespaces = 50;

/** Measures the 99th percentile of one decision for each network and fill, in microseconds. */
export function measureDecide(rounds: number, size: 'smoke' | 'normal' | 'long'): Measurement[] {
  const measurements: Measurement[] = [];
  const [warmUps, count] = size === 'smoke' ? [0, 500] : [samples, samples];
  for (const network of size === 'smoke' ? [small] : networks)
    for (const { fill, state, next } of statesOf(network)) {
      timeDecisions(state, next, warmUps);
      const ours = Array.from({ length: rounds }, () => quantile(timeDecisions(state, next, count), 0.99));
      const name = `decide ${network.name} ${fill}`;
      measurements.push(createMeasurement({ name, what: 'µs of a decision, p99', ours, goal: { atMost: 20 } }));
    }
  return measurements;
}

/**
 * Yields one state at one fill after the other. The decisions themselves fill it, and a check
 * compares that each Pod holds an address.
 */
function* statesOf({ cidrBlock, held }: Network): Generator<{ fill: string; state: State; next: number }> {
  const state = initialState();
  apply(state, 0, {
    type: 'ApplySubnet',
    now: startTime,
    name: benchSubnet,
    spec: { cidrBlock, gateway: '', excludeIps: [], provider: benchProvider, protocol: '' },
  });
  let next = 1;
  for (const { fill, count } of held) {
    for (; next <= count; next++) apply(state, next, allocateFor(next));
    const holding = state.claims.get(benchSubnet)?.size ?? 0;
    if (holding !== count) throw new Error(`${holding} addresses of ${cidrBlock} are held, and not ${count}`);
    yield { fill, state, next };
  }
}

function apply(state: State, index: number, command: Command): void {
  const decision = decide(state, command);
  if (decision.kind === 'refused') throw new Error(decision.refusal.message);
  for (const event of decision.events) evolve(state, { ...event, seq: index + 1, at: command.now }, new UndoLog());
}

/** Measures the microseconds of each decision. The state stays as it is. */
function timeDecisions(state: State, first: number, count: number): number[] {
  const times: number[] = [];
  for (let index = first; index < first + count; index++) {
    const command = allocateFor(index);
    const startedAt = performance.now();
    const { kind } = decide(state, command);
    times.push((performance.now() - startedAt) * 1_000);
    if (kind === 'refused') throw new Error('a Subnet with a free address refused a Pod');
  }
  return times;
}

const allocateFor = (index: number): Allocate => ({
  type: 'Allocate',
  now: startTime,
  pod: { namespace: `namespace-${index % namespaces}`, name: `pod-${index}`, uid: `uid-${index}`, node: '' },
  attachments: [
    {
      provider: benchProvider,
      ordinal: 0,
      interface: '',
      subnets: [benchSubnet],
      candidates: [],
      pool: '',
      ipFamily: '',
      reservation: '',
      mac: '',
      routes: [],
    },
  ],
});
