/** Alarms: what an operator must decide. Said in the log while they last, in an Event, and by /readyz. */
import type { Logger } from '../../lib/log.ts';
import type { Happening } from './kubernetes/events.ts';

const repeatMs = 60_000;

export class Alarms {
  readonly #log: Logger;
  readonly #say: (happening: Happening) => void;
  readonly #sentences = new Map<string, { readonly sentence: string; readonly saidAt: number }>();

  /** @param say tells people who look at Kubernetes Events. */
  constructor(log: Logger, say: (happening: Happening) => void) {
    this.#log = log;
    this.#say = say;
  }

  /** All that lasts. */
  get sentences(): string[] {
    return [...this.#sentences.values()].map(({ sentence }) => sentence);
  }

  /** The bell of one alarm, by its reason in CamelCase: a sentence rings it, again and again if need be; undefined ends it. */
  bell(reason: string): (sentence: string | undefined) => void {
    return (sentence) => {
      const known = this.#sentences.get(reason);
      const now = performance.now();
      if (sentence === undefined) {
        if (known) this.#log.warn({ reason }, 'the alarm is over');
        this.#sentences.delete(reason);
        return;
      }
      const again = known !== undefined && now - known.saidAt < repeatMs;
      this.#sentences.set(reason, { sentence, saidAt: again ? known.saidAt : now });
      if (again) return;
      this.#log.error({ reason }, `ALARM: ${sentence}`);
      this.#say({ type: 'Warning', reason, message: sentence });
    };
  }
}
