/**
 * What the ledger says is held now, found by Pod and by the name of its IP object. It tells which of them a fact touched,
 * so that only those are looked at.
 */
import { ipName } from '../../../lib/ip-name.ts';
import { keyOf } from '../kubernetes/list-watch.ts';
import type { Fact, Holding, PoolInForce, SubnetInForce } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';

export interface Touched {
  /** "namespace/name" */
  readonly pods: ReadonlySet<string>;
  /** Names of IP objects. */
  readonly ips: ReadonlySet<string>;
  /** Those whose counts changed. */
  readonly subnets: ReadonlySet<string>;
  /** IPPools whose counts changed, with those of their subnets. */
  readonly pools: ReadonlySet<string>;
}

export class View implements Reader {
  readonly #onTouched: (touched: Touched) => void;
  readonly #bySeq = new Map<number, Holding>();
  readonly #byPod = new Map<string, Set<number>>();
  readonly #byIp = new Map<string, Set<number>>();
  readonly #subnets = new Map<string, SubnetInForce>();
  readonly #pools = new Map<string, PoolInForce>();
  #seq = 0;

  constructor(onTouched: (touched: Touched) => void) {
    this.#onTouched = onTouched;
  }

  /** The position up to which the view is told. */
  get seq(): number {
    return this.#seq;
  }

  /** What a Pod name holds, whichever its uid, in the order of its attachments. */
  ofPod(pod: string): Holding[] {
    const holdings = this.#all(this.#byPod.get(pod));
    return holdings.sort((a, b) =>
      a.provider === b.provider ? a.ordinal - b.ordinal : a.provider < b.provider ? -1 : 1,
    );
  }

  /** What an IP object of this name shows. Should two claim one name, the older does. */
  ofIp(name: string): Holding | undefined {
    return this.#all(this.#byIp.get(name)).sort((a, b) => a.seq - b.seq)[0];
  }

  subnet(name: string): SubnetInForce | undefined {
    return this.#subnets.get(name);
  }

  pool(name: string): PoolInForce | undefined {
    return this.#pools.get(name);
  }

  /** Everything that there is. */
  all(): Touched {
    return {
      pods: new Set(this.#byPod.keys()),
      ips: new Set(this.#byIp.keys()),
      subnets: new Set(this.#subnets.keys()),
      pools: new Set(this.#pools.keys()),
    };
  }

  snapshot({ seq, holdings, subnets, pools }: Snapshot): void {
    const before = this.all();
    for (const index of [this.#bySeq, this.#byPod, this.#byIp, this.#subnets, this.#pools]) index.clear();
    for (const holding of holdings) this.#put(holding);
    for (const subnet of subnets) this.#subnets.set(subnet.name, subnet);
    for (const pool of pools) this.#pools.set(pool.name, pool);
    this.#seq = seq;
    const after = this.all();
    this.#onTouched({
      pods: new Set([...before.pods, ...after.pods]),
      ips: new Set([...before.ips, ...after.ips]),
      subnets: new Set([...before.subnets, ...after.subnets]),
      pools: new Set([...before.pools, ...after.pools]),
    });
  }

  facts(facts: readonly Fact[], seq: number): void {
    const [pods, ips, subnets] = [new Set<string>(), new Set<string>(), new Set<string>()];
    const touch = (holding: Holding | undefined): void => {
      if (!holding) return;
      pods.add(podOf(holding));
      ips.add(ipName(holding));
    };
    for (const fact of facts) {
      if (fact.kind === 'given') touch(this.#put(fact.holding));
      else if (fact.kind === 'ended') touch(this.#take(fact.seq));
      else if (fact.kind === 'bound') touch(this.#bind(fact));
      else if (fact.kind === 'configured') this.#subnets.set(fact.subnet.name, fact.subnet);
      else if (fact.kind === 'retired') this.#subnets.delete(fact.subnet);
      else if (fact.kind === 'pool-configured') this.#pools.set(fact.pool.name, fact.pool);
      else if (fact.kind === 'pool-retired') this.#pools.delete(fact.pool);
      const subnet = subnetOf(fact);
      if (subnet !== undefined) subnets.add(subnet);
    }
    this.#seq = seq;
    const touched = [...this.#pools.values()].filter(({ spec }) => subnets.has(spec.subnet));
    this.#onTouched({ pods, ips, subnets, pools: new Set(touched.map(({ name }) => name)) });
  }

  #all(seqs: ReadonlySet<number> | undefined): Holding[] {
    return [...(seqs ?? [])].flatMap((seq) => this.#bySeq.get(seq) ?? []);
  }

  #put(holding: Holding): Holding {
    this.#bySeq.set(holding.seq, holding);
    add(this.#byPod, podOf(holding), holding.seq);
    add(this.#byIp, ipName(holding), holding.seq);
    return holding;
  }

  #take(seq: number): Holding | undefined {
    const holding = this.#bySeq.get(seq);
    if (!holding) return undefined;
    this.#bySeq.delete(seq);
    take(this.#byPod, podOf(holding), seq);
    take(this.#byIp, ipName(holding), seq);
    return holding;
  }

  #bind({ seq, node, interface: name }: Extract<Fact, { kind: 'bound' }>): Holding | undefined {
    const holding = this.#bySeq.get(seq);
    return holding && this.#put({ ...holding, node, interface: name });
  }
}

function podOf({ namespace, pod }: Holding): string {
  return keyOf({ namespace, name: pod });
}

function subnetOf(fact: Fact): string | undefined {
  switch (fact.kind) {
    case 'given':
      return fact.holding.subnet;
    case 'ended':
    case 'retired':
      return fact.subnet;
    case 'configured':
      return fact.subnet.name;
    case 'pool-configured':
      return fact.pool.spec.subnet;
    case 'reserved':
      return fact.reserved.subnet;
    case 'pool-retired':
    case 'unreserved':
    case 'quarantined':
    case 'lifted':
      return fact.subnet;
    case 'bound':
    case 'unbound':
      return undefined;
  }
}

function add(index: Map<string, Set<number>>, key: string, seq: number): void {
  const seqs = index.get(key);
  if (seqs) seqs.add(seq);
  else index.set(key, new Set([seq]));
}

function take(index: Map<string, Set<number>>, key: string, seq: number): void {
  const seqs = index.get(key);
  seqs?.delete(seq);
  if (seqs?.size === 0) index.delete(key);
}
