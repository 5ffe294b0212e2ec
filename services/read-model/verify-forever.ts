/** Verifies the read model's file in the background. A damaged file is then rebuilt. */
import { pause } from '../../lib/process/abortable.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { ReadModel } from './read-model.ts';
import { StoreDamaged, verifyStore } from './store/verify-store.ts';

/** The pause between pages of 64 events, as queries wait for a page. 10^7 events take two hours. */
const pagePauseMs = 50;
const dayMs = 86_400_000;

export interface VerificationOptions {
  readonly model: ReadModel;
  readonly scratchFile: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Verifies the file after catch-up, and then daily, until the signal is aborted. */
export async function verifyForever(options: VerificationOptions): Promise<void> {
  const { model, log, signal } = options;
  while (!signal.aborted) {
    await model.caughtUp(signal).catch(() => undefined);
    if (signal.aborted) return;
    const verified = await verifyOnce(options, pagePauseMs).catch((error: unknown) => {
      log.error({ err: error }, 'the verification of the file failed; it is repeated tomorrow');
      return true;
    });
    if (verified) await pause(dayMs, signal);
  }
}

/** @returns false if the file is being rebuilt. @throws the system's error of the scratch file */
export async function verifyOnce(
  { model, scratchFile, log, signal }: VerificationOptions,
  pauseMs: number,
): Promise<boolean> {
  const { store } = model;
  const steps = verifyStore(store, scratchFile);
  try {
    while (!signal.aborted && model.isCurrent(store)) {
      if (steps.next().done) {
        log.info({ seq: model.position.seq }, 'file verified');
        return true;
      }
      await pause(pauseMs, signal);
    }
    return model.isCurrent(store);
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
    model.reportDamage(error.message);
    return false;
  } finally {
    steps.return(undefined);
  }
}
