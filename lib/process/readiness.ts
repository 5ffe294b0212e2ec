/** The readiness of a program that depends on several inputs. */

/** The state of an input: an informer, or the ledger. */
export interface InputStatus {
  /** The name of the input in messages. */
  readonly name: string;
  /** Whether the initial state is complete. */
  readonly isKnown: boolean;
  /** The time since the last data. */
  readonly silentMs: number;
  /** The silence after which the input counts as unavailable. */
  readonly maxSilentMs: number;
}

/** True, or the reason why not. @param alarms come first, because they may be the cause */
export function readiness(
  isStarted: boolean,
  inputs: readonly InputStatus[],
  alarms: readonly string[] = [],
): true | string {
  if (alarms.length > 0) return `ALARM: ${alarms.join('; ')}`;
  const unknown = inputs.filter(({ isKnown }) => !isKnown).map(({ name }) => name);
  if (unknown.length > 0) return `waiting for the initial state of ${unknown.join(', ')}`;
  if (!isStarted) return 'still starting';
  const silent = inputs.filter(({ silentMs, maxSilentMs }) => silentMs > maxSilentMs);
  if (silent.length === 0) return true;
  return `no data ${silent.map(({ name, silentMs }) => `from ${name} for ${Math.floor(silentMs / 1_000)} s`).join(', ')}`;
}
