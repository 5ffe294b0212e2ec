/** Alarms: conditions for an operator, in the log, an Event and /readyz until they end. */
import type { Logger } from '../../lib/process/log.ts';
import type { PodEvent } from './kubernetes/event-recorder.ts';

const repeatMs = 60_000;

export class Alarms {
  readonly #log: Logger;
  readonly #recordEvent: (event: PodEvent) => void;
  readonly #active = new Map<string, { readonly message: string; readonly loggedAt: number }>();

  /** @param recordEvent records a Kubernetes Event */
  constructor(log: Logger, recordEvent: (event: PodEvent) => void) {
    this.#log = log;
    this.#recordEvent = recordEvent;
  }

  /** The messages of all active alarms. */
  get messages(): string[] {
    return [...this.#active.values()].map(({ message }) => message);
  }

  /** Returns the setter of an alarm, which undefined clears. @param reason in CamelCase */
  setterFor(reason: string): (message: string | undefined) => void {
    return (message) => {
      const active = this.#active.get(reason);
      const now = performance.now();
      if (message === undefined) {
        this.#active.delete(reason);
        if (!active) return;
        this.#log.warn({ reason }, 'alarm cleared');
        const ended = `the alarm has ended: ${active.message}`;
        this.#recordEvent({ type: 'Normal', reason: `${reason}Ended`, message: ended });
        return;
      }
      const isRepeat = active !== undefined && now - active.loggedAt < repeatMs;
      this.#active.set(reason, { message, loggedAt: isRepeat ? active.loggedAt : now });
      if (isRepeat) return;
      this.#log.error({ reason }, `ALARM: ${message}`);
      this.#recordEvent({ type: 'Warning', reason, message });
    };
  }
}
