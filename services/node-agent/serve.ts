/** Who does what the plugin asks. ADD and DEL of a container are done one after the other, in the order of asking. */
import { IpledgerError } from '../../lib/errors.ts';
import { add, type AddDeps } from './add.ts';
import type { Serve } from './api.ts';
import { turnOf } from './bindings.ts';
import { check } from './check.ts';
import { del } from './del.ts';
import { gc } from './gc.ts';
import { forget, leave } from './journal.ts';
import type { EarlierBoots } from './reboot.ts';
import { status } from './status.ts';
import type { TakeTurn } from './turns.ts';
import type { CniRequest } from './wire.ts';

export interface ServeDeps extends AddDeps {
  readonly inTurn: TakeTurn;
  readonly boots: EarlierBoots;
  /** The folder of DELs that are left to be done later, and the socket by which the agent knows its own again. */
  readonly journal: { readonly folder: string; readonly socket: string };
}

/** Makes the function that does it. */
export const serveBy =
  (deps: ServeDeps): Serve =>
  async (asked, signal) => {
    switch (asked.verb) {
      case 'add':
        return deps.inTurn(turnOf(asked.request), signal, () => attach(deps, asked.request, signal));
      case 'del':
        await deps.inTurn(turnOf(asked.request), signal, () => detach(deps, asked.request, signal));
        return '';
      case 'check':
        await check(deps, asked, signal);
        return '';
      case 'gc':
        await gc(deps, asked, signal);
        return '';
      case 'status':
        await status(deps.allocator, deps.node, signal);
        return '';
    }
  };

/** Nothing that is left from before concerns the container any more. */
async function attach(deps: ServeDeps, request: CniRequest, signal: AbortSignal): Promise<string> {
  const answer = await add(deps, request, signal);
  deps.boots.spare(request);
  await forget(deps.journal.folder, request);
  return answer;
}

/** A Pod must be able to go while the allocator is away: its DEL is done when it is back. */
async function detach(
  { allocator, files, journal, log }: ServeDeps,
  request: CniRequest,
  signal: AbortSignal,
): Promise<void> {
  try {
    await del(allocator, request, signal);
    await files.drop(request);
  } catch (error) {
    if (IpledgerError.from(error).kind !== 'transient' || signal.aborted) throw error;
    await leave(journal.folder, journal.socket, request);
    log.warn({ err: error, containerId: request.containerId }, 'DEL: the allocator is away; left to be done later');
  }
}
