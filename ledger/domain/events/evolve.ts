/** Applies an event to the state. What each type changes is in its definition, in this folder. */
import type { Sequenced } from './event.ts';
import { definitionOf, isEventType } from './registry.ts';
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';

/**
 * Changes the state in place. The undo log can take the change back.
 * @throws Error for an unknown type: an event is never skipped.
 */
export function evolve(state: State, event: Sequenced, undoLog: UndoLog): void {
  if (!isEventType(event.type)) throw new Error(`unknown event ${JSON.stringify(event)}: upgrade this program`);
  definitionOf(event.type).evolve(state, event, undoLog);
}
