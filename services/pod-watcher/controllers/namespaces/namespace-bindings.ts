/**
 * The Subnets of the primary network that each namespace lists. A change of a Subnet or a namespace
 * is compared only with the objects that it may concern: every name and selector has anchors, and a
 * namespace that it matches has one of them.
 */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import { matchesLabels, type LabelSelector } from '../../kubernetes/objects/label-selector.ts';
import type { NamespaceObject } from '../../kubernetes/objects/namespace.ts';
import type { NamespaceRestriction, SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { primaryProvider } from '../subnets/subnet-cache.ts';

type Labelled = Pick<NamespaceObject, 'name' | 'labels'>;

interface BoundSubnet {
  readonly restriction: NamespaceRestriction;
  readonly names: ReadonlySet<string>;
  readonly anchors: ReadonlySet<string>;
}

interface BoundNamespace extends Labelled {
  readonly anchors: ReadonlySet<string>;
}

export class NamespaceBindings {
  readonly #subnets = new Map<string, BoundSubnet>();
  readonly #namespaces = new Map<string, BoundNamespace>();
  /** Names of Subnets and namespaces, by anchor. */
  readonly #subnetsAt = new Map<string, Set<string>>();
  readonly #namespacesAt = new Map<string, Set<string>>();
  readonly #subnetsOf = new Map<string, Set<string>>();
  readonly #namespacesOf = new Map<string, Set<string>>();

  /** The Subnets that a namespace lists, unordered. */
  subnetsOf(namespace: string): Iterable<string> {
    return this.#subnetsOf.get(namespace) ?? [];
  }

  /** The namespaces that list a Subnet. */
  namespacesOf(subnet: string): Iterable<string> {
    return this.#namespacesOf.get(subnet) ?? [];
  }

  /** Adds or changes a Subnet. Returns the namespaces that list it now, or did before. */
  putSubnet(object: SubnetObject): ReadonlySet<string> {
    const affected = this.dropSubnet(object.name);
    const { name, namespaceRestriction: restriction } = object;
    if (!isBindable(object)) return affected;
    const names = new Set(restriction.namespaces);
    const anchors = new Set([...restriction.namespaces.map(nameAnchor), ...restriction.selectors.flatMap(anchorsOf)]);
    const subnet = { restriction, names, anchors };
    this.#subnets.set(name, subnet);
    for (const anchor of anchors) addTo(this.#subnetsAt, anchor, name);
    for (const candidate of namesAt(this.#namespacesAt, anchors)) {
      const namespace = this.#namespaces.get(candidate);
      if (!namespace || !isBound(subnet, namespace)) continue;
      this.#bind(name, candidate);
      affected.add(candidate);
    }
    return affected;
  }

  /** Removes a Subnet. Returns the namespaces that listed it. */
  dropSubnet(name: string): Set<string> {
    const affected = new Set(this.namespacesOf(name));
    for (const namespace of affected) this.#unbind(name, namespace);
    for (const anchor of this.#subnets.get(name)?.anchors ?? []) removeFrom(this.#subnetsAt, anchor, name);
    this.#subnets.delete(name);
    return affected;
  }

  /** Adds a namespace, or changes its labels. */
  putNamespace({ name, labels }: Labelled): void {
    this.dropNamespace(name);
    const entries = Object.entries(labels);
    const anchors = new Set([
      anyNamespace,
      nameAnchor(name),
      ...entries.flatMap(([key, value]) => [keyAnchor(key), labelAnchor(key, value)]),
    ]);
    const namespace = { name, labels, anchors };
    this.#namespaces.set(name, namespace);
    for (const anchor of anchors) addTo(this.#namespacesAt, anchor, name);
    for (const candidate of namesAt(this.#subnetsAt, anchors)) {
      const subnet = this.#subnets.get(candidate);
      if (subnet && isBound(subnet, namespace)) this.#bind(candidate, name);
    }
  }

  dropNamespace(name: string): void {
    for (const subnet of this.subnetsOf(name)) this.#unbind(subnet, name);
    for (const anchor of this.#namespaces.get(name)?.anchors ?? []) removeFrom(this.#namespacesAt, anchor, name);
    this.#namespaces.delete(name);
  }

  #bind(subnet: string, namespace: string): void {
    addTo(this.#subnetsOf, namespace, subnet);
    addTo(this.#namespacesOf, subnet, namespace);
  }

  #unbind(subnet: string, namespace: string): void {
    removeFrom(this.#subnetsOf, namespace, subnet);
    removeFrom(this.#namespacesOf, subnet, namespace);
  }
}

/** Whether namespaces may list a Subnet: it belongs to the primary network, and stays. */
const isBindable = ({ spec, deleting }: SubnetObject): boolean =>
  !deleting && (spec.provider || primaryProvider) === primaryProvider;

const isBound = ({ restriction, names }: BoundSubnet, { name, labels }: Labelled): boolean =>
  names.has(name) || restriction.selectors.some((selector) => matchesLabels(selector, labels));

const anyNamespace = 'any';
const nameAnchor = (name: string): string => `name ${name}`;
const keyAnchor = (key: string): string => `key ${key}`;
const labelAnchor = (key: string, value: string): string => `label ${key}=${value}`;

/**
 * Returns anchors of one requirement: each namespace that a selector matches has such an anchor.
 */
function anchorsOf({ matchLabels, matchExpressions }: LabelSelector): string[] {
  for (const [key, value] of Object.entries(matchLabels)) return [labelAnchor(key, value)];
  const oneOf = matchExpressions.find(({ operator }) => operator === 'In');
  if (oneOf) return oneOf.values.map((value) => labelAnchor(oneOf.key, value));
  const present = matchExpressions.find(({ operator }) => operator === 'Exists');
  return [present ? keyAnchor(present.key) : anyNamespace];
}

function namesAt(index: ReadonlyMap<string, ReadonlySet<string>>, anchors: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const anchor of anchors) for (const name of index.get(anchor) ?? []) names.add(name);
  return names;
}
