/**
 * What is kept though its Pod has ended: a member of a StatefulSet has its addresses again as long as the set will have that
 * member again, and a virtual machine as long as it may be started again.
 */
import { machineKind } from '../../../lib/pod-identity.ts';
import type { Owner } from '../../../proto/ipledger.ts';
import type { Source } from '../kubernetes/list-watch.ts';
import type { StatefulSet } from '../kubernetes/objects.ts';
import { type LookUpMachines, whyNoMachine } from './machines.ts';
import { type Ending, memberOf, whyNoMember } from './owner.ts';

export interface RetentionOptions {
  readonly statefulSets: Pick<Source<StatefulSet>, 'objects'>;
  /** The StatefulSet "namespace/name" as the API has it at this moment; undefined if there is none. */
  readonly lookUpStatefulSet: (key: string, signal: AbortSignal) => Promise<StatefulSet | undefined>;
  readonly lookUpMachines: LookUpMachines;
  readonly signal: AbortSignal;
}

export class Retention {
  readonly #options: RetentionOptions;
  /** Machines that did not run when they were looked up, and may be started again; "namespace/name" of each. */
  readonly #stopped = new Set<string>();

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Why a Pod's owner will not have it again, as the API says at this moment; 'kept' while it will, undefined if that is no question. */
  async whyNot(key: string, owner: Owner | undefined): Promise<Ending | 'kept' | undefined> {
    const why = await this.#ending(key, owner);
    if (owner?.kind === machineKind && why === 'kept') this.#stopped.add(key);
    else this.#stopped.delete(key);
    return why;
  }

  /** Whether its absence is as it should be: its owner makes it again when it can. As far as is known without asking. */
  isAwaited(key: string, owner: Owner | undefined): boolean {
    if (this.#stopped.has(key)) return true;
    const member = memberOf(nameOf(key), owner);
    if (!owner || member === undefined) return false;
    return whyNoMember(this.#options.statefulSets.objects.get(setOf(key, owner)), owner, member) === undefined;
  }

  /** Nothing is held under the name any more. */
  forget(key: string): void {
    this.#stopped.delete(key);
  }

  /** What is watched may lag behind: that a StatefulSet does without a member is looked up. */
  async #ending(key: string, owner: Owner | undefined): Promise<Ending | 'kept' | undefined> {
    const { statefulSets, lookUpStatefulSet, lookUpMachines, signal } = this.#options;
    if (owner?.kind === machineKind) return whyNoMachine(await lookUpMachines(key, signal), owner) ?? 'kept';
    const member = memberOf(nameOf(key), owner);
    if (!owner || member === undefined) return undefined;
    const set = setOf(key, owner);
    if (!whyNoMember(statefulSets.objects.get(set), owner, member)) return 'kept';
    return whyNoMember(await lookUpStatefulSet(set, signal), owner, member) ?? 'kept';
  }
}

const nameOf = (key: string): { readonly name: string } => ({ name: key.slice(key.indexOf('/') + 1) });
const setOf = (key: string, { name }: Owner): string => `${key.slice(0, key.indexOf('/'))}/${name}`;
