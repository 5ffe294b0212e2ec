/**
 * Watches what is committed to etcd, and checks each event at once: the chain and the rules of the
 * verification, that no address and no MAC gets a second holder, and what the address book allows.
 */
import { type AllocationPeriods, AddressBook } from './address-book.ts';
import { DocumentedRules } from './documented-rules.ts';
import { HolderWitness } from '../../../ledger/domain/testing/holder-witness.ts';
import { evolve } from '../../../ledger/domain/events/registry.ts';
import { findDoubleAllocations } from '../../../ledger/domain/state/claims-on-network.ts';
import { initialState, type State } from '../../../ledger/domain/state/state.ts';
import { UndoLog } from '../../../ledger/domain/state/undo-log.ts';
import { faultOf } from '../../../ledger/audit/verification/event-verifier.ts';
import { advanceHead, emptyHead, type Head, parseEvent, type StoredEvent } from '../../../ledger/log/chain/chain.ts';
import { headKey, logPrefix, logStartKey, seqOfKey } from '../../../ledger/log/store/keys.ts';
import { headText, parseLogStart } from '../../../ledger/log/store/stored-values.ts';
import { errorMessage } from '../../../lib/errors.ts';
import type { Change } from '../etcd/key-store.ts';
import type { World } from '../kernel/world.ts';

/** What a reader of a history needs of an event. */
function describeEvent({ envelope: { subnet, before, data } }: StoredEvent): string {
  const { uid, fromUid, containerId, cause, reason } = data as Record<string, string | undefined>;
  const texts = [subnet, Object.keys(before).join(), uid, fromUid && `from ${fromUid}`, containerId, cause, reason];
  return texts.filter((each) => each).join(' ');
}

export class LogWitness {
  readonly book: AddressBook;
  /** The fold of all committed events. */
  readonly state: State = initialState();
  readonly #world: World;
  readonly #onEvent: (event: StoredEvent) => void;
  readonly #rules: DocumentedRules;
  readonly #holders: HolderWitness;
  /** The hash of each event, by its number. */
  readonly #hashes: string[] = [''];
  #head: Head = emptyHead;
  #logStart = 1;

  /** @param onEvent called with each event, after its checks */
  constructor(world: World, bindingTimeoutMs: number, onEvent: (event: StoredEvent) => void = () => undefined) {
    this.#world = world;
    this.#onEvent = onEvent;
    this.book = new AddressBook((what) => world.fail('address book', what));
    this.#rules = new DocumentedRules(this.book, (what) => world.fail('documented rule', what));
    this.#holders = new HolderWitness(bindingTimeoutMs);
  }

  get head(): Head {
    return this.#head;
  }

  get periods(): AllocationPeriods {
    return this.book.periods;
  }

  /** The hash of a committed event; undefined if it is not committed. */
  hashOf(seq: number): string | undefined {
    return this.#hashes[seq];
  }

  /** Checks a commit of etcd. */
  read(changes: readonly Change[]): void {
    const added: string[] = [];
    for (const { key, before, after } of changes) {
      if (key === logStartKey && after) this.#logStart = parseLogStart(after.value.toString('utf8'));
      if (!key.startsWith(logPrefix)) continue;
      const seq = seqOfKey(key) ?? 0;
      if (before && after) this.#world.fail('append only', `event ${seq} is overwritten`);
      else if (after) added.push(after.value.toString('utf8'));
      else if (seq >= this.#logStart) this.#world.fail('append only', `event ${seq} is deleted and not sealed`);
    }
    if (added.length > 0) this.#apply(added);
    const head = changes.find(({ key }) => key === headKey)?.after;
    if (head && head.value.toString('utf8') !== headText(this.#head))
      this.#world.fail('head', `${head.value.toString('utf8')} is not the head of ${headText(this.#head)}`);
  }

  #apply(lines: readonly string[]): void {
    const open = { part: 0, parts: 0 };
    try {
      let command: ReturnType<typeof parseEvent>['envelope'] | undefined;
      for (const line of lines) {
        const event = parseEvent(line);
        const { sequenced, envelope } = event;
        const { seq, type, at } = sequenced;
        this.#world.trace(`event ${seq} ${type} ${describeEvent(event)}`);
        const fault = faultOf({ head: this.#head, state: this.state, openCommand: command }, event);
        if (fault !== undefined) this.#world.fail('event', `event ${seq} (${type}) ${fault}`);
        [open.part, open.parts] = envelope.part;
        command = open.part < open.parts ? envelope : undefined;
        this.#head = advanceHead(this.#head, event);
        this.#hashes.push(event.hash);
        this.#rules.check(sequenced);
        this.book.read(event);
        this.#holders.read(sequenced, seq, at);
        evolve(this.state, sequenced, new UndoLog());
        this.#onEvent(event);
      }
    } catch (error) {
      this.#world.fail('one holder', `event ${this.#head.seq}: ${errorMessage(error)}`);
    }
    if (open.part < open.parts)
      this.#world.fail('all or none', `the commit ends with part ${open.part} of ${open.parts}`);
    const [double] = findDoubleAllocations(this.state);
    if (double) this.#world.fail('one holder', JSON.stringify(double));
  }
}
