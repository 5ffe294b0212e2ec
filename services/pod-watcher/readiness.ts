/** Whether the active watcher can do its work. Pure. */

/** Whom it must hear. */
export interface Heard {
  /** For people. */
  readonly name: string;
  /** Whether all that there was at the start has been taken in. */
  readonly known: boolean;
  readonly silentMs: number;
  /** Who is silent for longer is away. */
  readonly mostSilentMs: number;
}

/** True; or what is missing, as a part of a sentence. @param alarms what somebody must look at: the rest may well follow from it. */
export function readiness(started: boolean, all: readonly Heard[], alarms: readonly string[] = []): true | string {
  if (alarms.length > 0) return `ALARM: ${alarms.join('; ')}`;
  const unknown = all.filter(({ known }) => !known).map(({ name }) => name);
  if (unknown.length > 0) return `still to be read: ${unknown.join(', ')}`;
  if (!started) return 'still starting';
  const silent = all.filter(({ silentMs, mostSilentMs }) => silentMs > mostSilentMs);
  if (silent.length === 0) return true;
  return `nothing heard ${silent.map(({ name, silentMs }) => `of ${name} for ${Math.floor(silentMs / 1_000)} s`).join(', ')}`;
}
