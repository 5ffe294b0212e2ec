/** Brings the ledger's subnets to what the Subnet objects say, and the objects to how the ledger understood them. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { SubnetObject } from '../kubernetes/kept-objects.ts';
import type { Source } from '../kubernetes/list-watch.ts';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import type { Raw } from '../../../lib/raw.ts';
import type { Allocator } from '../ledger/allocator.ts';
import { type Fact, sourceOf, type SubnetInForce } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';
import { addressOverlap, subnetReasons, type Verdict } from './conditions.ts';
import { Keeper, type Keeping } from './keeper.ts';
import { cautionsOf, conflictsOf, shownSpec, type Surroundings, unshown } from './subnet-spec.ts';
import type { Subnets } from './subnets.ts';
import { overlapMessage, WireWarnings } from './wire-warnings.ts';

export interface ConfigurerOptions extends Keeping<SubnetObject> {
  readonly allocator: Pick<Allocator, 'applySubnet' | 'deleteSubnet'>;
  readonly subnets: Subnets;
  readonly networks: Pick<Source<NetworkDefinition>, 'subscribe'>;
  /** Addresses of the cluster itself, as of now. */
  readonly surroundings: () => Surroundings;
  /** Which Subnet serves may have changed: looks again at who waits for this topic. */
  readonly ring: (topic: string) => void;
}

export class Configurer implements Reader {
  readonly #options: ConfigurerOptions;
  readonly #keeper: Keeper<SubnetObject>;
  readonly #wires: WireWarnings;

  constructor(options: ConfigurerOptions) {
    this.#options = options;
    const { subnets, objects, networks } = options;
    this.#wires = new WireWarnings(networks, (name) => {
      if (objects.objects.has(name)) this.#keeper.add(name);
    });
    this.#keeper = new Keeper<SubnetObject>({
      ...options,
      apply: (object) => this.#apply(object),
      stands: (name) => subnets.inForce(name) !== undefined,
      differences: unshown,
      retire: (name) => this.#retire(name),
      names: () => subnets.names(),
      warnings: ({ name }) => [{ ...addressOverlap, message: overlapMessage(name, this.#wires.of(name)) }],
      onAnswer: (object, verdict) => this.#onAnswer(object, verdict),
      reasons: subnetReasons,
      cautions: cautionsOf,
    });
  }

  /** Begins; resolves when every Subnet that is known now has been tried once. */
  start(): Promise<void> {
    return this.#keeper.start();
  }

  snapshot(snapshot: Snapshot): void {
    this.#wires.snapshot(snapshot);
    this.#keeper.addAll();
  }

  /** An address less in use may be the one that kept a subnet from going, or from changing. */
  facts(facts: readonly Fact[]): void {
    this.#wires.facts(facts);
    for (const fact of facts) {
      if (fact.kind === 'configured') this.#keeper.heard(fact.subnet.name);
      else if (fact.kind === 'retired') this.#keeper.add(fact.subnet);
      else if (fact.kind === 'ended' || fact.kind === 'unbound' || fact.kind === 'unreserved')
        this.#keeper.retry(fact.subnet);
    }
  }

  /** @throws IpledgerError */
  async #apply(object: SubnetObject): Promise<Raw> {
    const { allocator, subnets, surroundings, signal } = this.#options;
    const { name, uid, generation, spec } = object;
    const wrong = conflictsOf(object, surroundings());
    if (wrong.length > 0) throw new IpledgerError('SUBNET_INVALID', wrong.join('; '));
    const reply = await allocator.applySubnet({ name, spec, source: { uid, generation } }, signal);
    if (!reply.subnet?.spec) throw new IpledgerError('BUG', `the allocator accepted subnet ${name} and has none`);
    const inForce: SubnetInForce = { name, spec: reply.subnet.spec, source: sourceOf(reply.subnet.source) };
    subnets.accepted(inForce, reply.position?.seq ?? 0);
    return shownSpec(object, inForce.spec);
  }

  #onAnswer({ name }: SubnetObject, { accepted, message }: Verdict): void {
    const { ring, subnets } = this.#options;
    if (!accepted) subnets.refused(name, message);
    ring(`subnet:${name}`);
    const provider = subnets.inForce(name)?.spec.provider;
    if (provider !== undefined) ring(`provider:${provider}`);
  }

  /** @throws IpledgerError */
  async #retire(name: string): Promise<void> {
    const { allocator, subnets, objects, signal } = this.#options;
    if (!objects.objects.has(name)) subnets.forget(name);
    // What was configured over gRPC is not ours to retire.
    if (!subnets.inForce(name)?.source) return;
    try {
      await allocator.deleteSubnet(name, signal);
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.code !== 'SUBNET_UNKNOWN') throw error;
    }
  }
}
