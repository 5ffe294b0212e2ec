/**
 * The form of the domain's specs: given these events, when this command is decided, then these
 * events or this refusal follow.
 */
import { expect } from 'chai';
import type { Command } from '../commands/command.ts';
import { decide } from '../decide/decide.ts';
import { describeState } from './describe-state.ts';
import type { Event } from '../events/event.ts';
import { evolve } from '../events/registry.ts';
import { UndoLog } from '../state/undo-log.ts';
import type { RefusalCode } from '../commands/refusal.ts';
import { restoreState, type Snapshot } from '../state/snapshot.ts';
import { initialState, type State } from '../state/state.ts';

/** The time of the first event in the specs. Each further event is a second later. */
export const startTime = Date.parse('2026-01-31T08:00:00.000Z');
const second = 1_000;

/** Folds events, numbered from 1, into a state. */
export function foldEvents(
  events: readonly Event[],
  at: (index: number) => number = (index) => startTime + index * second,
): State {
  const state = initialState();
  events.forEach((event, index) => evolve(state, { ...event, seq: index + 1, at: at(index) }, new UndoLog()));
  return state;
}

/** The snapshot of the keys that etcd would have for a state. */
export function snapshotOf(state: State): Snapshot {
  return {
    ledger: state.ledger,
    segments: state.segments,
    pools: [...state.pools.values()],
    subnets: [...state.subnets].map(([name, { subnet, source }]) => ({
      name,
      spec: subnet.spec,
      ...(source && { source }),
    })),
    claims: [...state.claims].flatMap(([subnet, claims]) =>
      [...claims].map(([address, claim]) => ({ subnet, address, claim })),
    ),
    dropped: [...state.dropped].map(([subnet, seqs]) => ({ subnet, seqs })),
    ended: [...state.ended.chunks()],
  };
}

export type Untimed<Kind extends Command = Command> = Kind extends Command ? Omit<Kind, 'now'> : never;

export interface Outcome {
  then(events: readonly Event[]): void;
  thenNothingHappens(): void;
  thenRefused(code: RefusalCode, message: RegExp | string): void;
  readonly events: readonly Event[];
}

/**
 * Begins a spec. Each spec also checks that deciding changes nothing, that the events can be
 * undone, and that a state restored from the keys leads to the same decision.
 */
export function given(events: readonly Event[]) {
  const whenAt = (now: number, untimed: Untimed): Outcome => {
    const state = foldEvents(events);
    const command = { ...untimed, now } as Command;
    const before = describeState(state);
    const decision = decide(state, command);
    expect(describeState(state), 'deciding changes nothing').to.deep.equal(before);
    expect(decide(restoreState(snapshotOf(state)), command), 'a restored state decides the same').to.deep.equal(
      decision,
    );
    if (decision.kind === 'accepted') assertUndoable(state, decision.events, events.length);
    return outcomeOf(decision);
  };
  const later = startTime + events.length * second;
  return {
    when: (command: Untimed): Outcome => whenAt(later, command),
    /** Decides a command `ms` after the last event. */
    whenAfter: (ms: number, command: Untimed): Outcome => whenAt(later - second + ms, command),
  };
}

function assertUndoable(state: State, events: readonly Event[], past: number): void {
  const before = describeState(state);
  const undoLog = new UndoLog();
  events.forEach((event, index) => evolve(state, { ...event, seq: past + index + 1, at: startTime }, undoLog));
  undoLog.rollBack();
  expect(describeState(state), 'the events can be undone').to.deep.equal(before);
}

function outcomeOf(decision: ReturnType<typeof decide>): Outcome {
  const accepted = (): readonly Event[] => {
    if (decision.kind === 'refused') throw new Error(`refused: ${decision.refusal.code} ${decision.refusal.message}`);
    return decision.events;
  };
  return {
    get events() {
      return accepted();
    },
    then: (events) => expect(accepted()).to.deep.equal(events),
    thenNothingHappens: () => expect(accepted()).to.deep.equal([]),
    thenRefused: (code, message) => {
      if (decision.kind !== 'refused') throw new Error(`accepted: ${JSON.stringify(decision.events)}`);
      expect(decision.refusal.code).to.equal(code);
      if (typeof message === 'string') expect(decision.refusal.message).to.contain(message);
      else expect(decision.refusal.message).to.match(message);
    },
  };
}
