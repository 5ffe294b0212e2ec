/**
 * Brings the ledger's subnets to what the Subnet objects say: Apply for each spec that is new, Delete for what is gone. What the
 * ledger says to a spec stands on the object's conditions, which are written here and nowhere else.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Happening } from '../kubernetes/events.ts';
import type { Change, Source } from '../kubernetes/list-watch.ts';
import type { SubnetObject } from '../kubernetes/objects.ts';
import type { Allocator } from '../ledger/allocator.ts';
import { type Fact, sourceOf, type SubnetInForce } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { type Condition, conditionsAfter, type Verdict } from './conditions.ts';
import type { Subnets } from './subnets.ts';
import { subnetRefused } from './why.ts';

export interface ConfigurerOptions {
  readonly allocator: Pick<Allocator, 'applySubnet' | 'deleteSubnet'>;
  readonly objects: Pick<Source<SubnetObject>, 'objects' | 'subscribe'>;
  readonly subnets: Subnets;
  /** Which Subnet serves may have changed: looks again at who waits for this topic. */
  readonly ring: (topic: string) => void;
  readonly writeConditions: (
    subnet: SubnetObject,
    conditions: readonly Condition[],
    signal: AbortSignal,
  ) => Promise<void>;
  readonly say: (subnet: SubnetObject, happening: Happening) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 4;
const firstBackoffMs = 500;
const mostBackoffMs = 30_000;

export class Configurer implements Reader {
  readonly #options: ConfigurerOptions;
  readonly #queue: Queue;
  /** The verdict on each object's newest spec, with the "uid/generation" that it is about. */
  readonly #verdicts = new Map<string, { readonly of: string; readonly verdict: Verdict }>();
  #waiters: (() => void)[] = [];
  #started = false;

  constructor(options: ConfigurerOptions) {
    this.#options = options;
    const { log, signal } = options;
    this.#queue = new Queue({
      concurrency,
      firstBackoffMs,
      mostBackoffMs,
      work: (name) => this.#turn(name),
      log,
      signal,
    });
    options.objects.subscribe((change) => this.#onSubnet(change));
  }

  /** Begins; resolves when every Subnet that is known now has been tried once. */
  async start(): Promise<void> {
    this.#started = true;
    this.#addAll();
    this.#queue.start();
    while (!this.#queue.idle && !this.#options.signal.aborted)
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  snapshot(): void {
    if (this.#started) this.#addAll();
  }

  /** An address less in use may be the one that kept a subnet from going, or from changing. */
  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'retired') this.#queue.add(fact.subnet);
      else if (fact.kind === 'ended' && this.#queue.tries(fact.subnet) > 0) this.#queue.add(fact.subnet);
    }
  }

  #addAll(): void {
    const { objects, subnets } = this.#options;
    for (const name of new Set([...objects.objects.keys(), ...subnets.names()])) this.#queue.add(name);
  }

  #onSubnet(change: Change<SubnetObject>): void {
    if (change.kind === 'listed') return;
    this.#queue.add(change.object.name);
  }

  async #turn(name: string): Promise<Outcome> {
    try {
      const object = this.#options.objects.objects.get(name);
      return object && !object.deleting ? await this.#apply(object) : await this.#retire(name);
    } finally {
      // After this turn has left the queue.
      setImmediate(() => {
        for (const tell of this.#waiters.splice(0)) tell();
      });
    }
  }

  async #apply(object: SubnetObject): Promise<Outcome> {
    const { name } = object;
    const of = `${object.uid}/${object.generation}`;
    const known = this.#verdicts.get(name);
    const settled = known?.of === of && known.verdict.accepted && this.#options.subnets.inForce(name) !== undefined;
    const { verdict, outcome } = settled
      ? { verdict: known.verdict, outcome: 'done' as const }
      : await this.#ask(object);
    if (!verdict) return outcome;
    if (!settled) this.#ringFor(object);
    const news = known?.of !== of || known.verdict.message !== verdict.message;
    if (news && !verdict.accepted) this.#options.say(object, subnetRefused(verdict.message));
    this.#verdicts.set(name, { of, verdict });
    const conditions = conditionsAfter(object.status['conditions'], verdict, {
      generation: object.generation,
      now: new Date(),
    });
    if (conditions) await this.#options.writeConditions(object, conditions, this.#options.signal);
    return outcome;
  }

  /** What the ledger says to the spec; no verdict when it did not answer. */
  async #ask(object: SubnetObject): Promise<{ verdict: Verdict | undefined; outcome: Outcome }> {
    const { allocator, subnets, log, signal } = this.#options;
    const { name, uid, generation, spec, problems } = object;
    if (problems.length > 0) return { verdict: this.#refuse(name, problems.join('; ')), outcome: 'done' };
    try {
      const reply = await allocator.applySubnet({ name, spec, source: { uid, generation } }, signal);
      const inForce: SubnetInForce | undefined = reply.subnet?.spec && {
        name,
        spec: reply.subnet.spec,
        source: sourceOf(reply.subnet.source),
      };
      if (inForce) subnets.accepted(inForce, reply.position?.seq ?? 0);
      return { verdict: { accepted: true, message: '' }, outcome: 'done' };
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind === 'transient' || error.kind === 'bug') throw error;
      log.info({ subnet: name, code: error.code, reason: error.message }, 'intent: Subnet refused');
      return { verdict: this.#refuse(name, error.message), outcome: error.kind === 'invalid' ? 'done' : 'again' };
    }
  }

  #refuse(name: string, message: string): Verdict {
    this.#options.subnets.refused(name, message);
    return { accepted: false, message };
  }

  async #retire(name: string): Promise<Outcome> {
    const { allocator, subnets, objects, log, signal } = this.#options;
    this.#verdicts.delete(name);
    if (!objects.objects.has(name)) subnets.forget(name);
    // What was configured over gRPC is not ours to retire.
    if (!subnets.inForce(name)?.source) return 'done';
    try {
      await allocator.deleteSubnet(name, signal);
      return 'done';
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.code === 'SUBNET_UNKNOWN') return 'done';
      if (error.code !== 'SUBNET_IN_USE') throw error;
      log.info({ subnet: name, reason: error.message }, 'intent: Subnet is gone, its addresses are still held');
      return 'again';
    }
  }

  #ringFor({ name }: SubnetObject): void {
    const { ring, subnets } = this.#options;
    ring(`subnet:${name}`);
    const provider = subnets.inForce(name)?.spec.provider;
    if (provider !== undefined) ring(`provider:${provider}`);
  }
}
