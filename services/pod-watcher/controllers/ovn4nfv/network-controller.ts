/**
 * Makes a Subnet for each Network of OVN4NFV, and deletes it with the Network. The Subnet follows
 * the usual rules: the allocator validates it, and it stays while its addresses are in use.
 *
 * A Subnet is deleted only while its Network is present and being deleted. So nothing is deleted
 * when an API server loses its Networks.
 */
import { IpledgerError } from '../../../../lib/errors.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { type Informer, keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import { addFinalizerPatch, versionPrecondition } from '../../kubernetes/objects/finalizer.ts';
import type { Ovn4nfvNetwork } from '../../kubernetes/objects/ovn4nfv-network.ts';
import { type SubnetObject, networkAnnotation, networkVersionAnnotation } from '../../kubernetes/objects/subnet.ts';
import { nameOf } from '../../namespaced-map.ts';
import { type ConditionReasons, fieldsIgnored } from '../object-controller/conditions.ts';
import { ObjectController, type ObjectAccess } from '../object-controller/object-controller.ts';
import type { SubnetCache } from '../subnets/subnet-cache.ts';
import { ovn4nfvProvider } from '../../../../lib/kubernetes/served-network.ts';

export interface NetworkControllerOptions extends ObjectAccess<Ovn4nfvNetwork> {
  readonly subnetObjects: Pick<Informer<SubnetObject>, 'objects' | 'subscribe'>;
  readonly subnets: Pick<SubnetCache, 'serves' | 'refusalOf' | 'exists'>;
  /** Writes Subnets. All functions throw ApiError. */
  readonly createSubnet: (manifest: SubnetManifest, signal: AbortSignal) => Promise<void>;
  readonly patchSubnet: (subnet: SubnetObject, body: UntypedJson, signal: AbortSignal) => Promise<void>;
  readonly deleteSubnet: (subnet: SubnetObject, signal: AbortSignal) => Promise<void>;
}

const networkReasons: ConditionReasons = {
  validated: 'SubnetCreated',
  ready: 'SubnetCreated',
  refused: 'CreateSubnetFailed',
  inUse: 'SubnetInUse',
};

export class NetworkController {
  readonly #options: NetworkControllerOptions;
  readonly #controller: ObjectController<Ovn4nfvNetwork>;

  constructor(options: NetworkControllerOptions) {
    this.#options = options;
    this.#controller = new ObjectController<Ovn4nfvNetwork>({
      ...options,
      apply: (network) => this.#apply(network),
      isApplied: (key) => this.#subnetOf(key) !== undefined && options.subnets.serves(nameOf(key)),
      differences: ({ status }, desired) => (status['state'] === desired['state'] ? {} : { status: desired }),
      retire: (key) => this.#retire(key),
      appliedNames: () => [],
      warnings: (network) => [fieldsIgnored(network)],
      onVerdict: (network, { accepted }) => void (accepted || this.#writeFailure(network)),
      reasons: networkReasons,
    });
    options.subnetObjects.subscribe((change) => {
      if (change.kind === 'listed') return;
      const { network, name } = change.object;
      if (network !== '') this.#controller.enqueue(network);
      this.#controller.retryAll((waiting) => waiting.name === name);
    });
  }

  /** Starts; resolves when every present Network has been tried once. */
  start(): Promise<void> {
    return this.#controller.start();
  }

  /** Returns the Subnet that was made for a Network "namespace/name". */
  #subnetOf(key: string): SubnetObject | undefined {
    const subnet = this.#options.subnetObjects.objects.get(nameOf(key));
    return subnet?.network === key ? subnet : undefined;
  }

  /** Writes the Subnet. @throws IpledgerError while it is foreign, or is not in force */
  async #apply(network: Ovn4nfvNetwork): Promise<UntypedJson> {
    const { subnetObjects, subnets, createSubnet, patchSubnet, signal } = this.#options;
    const { name } = network;
    await this.#addFinalizer(network);
    const manifest = subnetManifestOf(network);
    const present = subnetObjects.objects.get(name);
    if (present ? present.network !== keyOf(network) : subnets.exists(name))
      throw new IpledgerError('SUBNET_OVERLAP', collision(name, present?.network ?? ''));
    if (present?.deleting)
      throw new IpledgerError('SUBNET_IN_USE', `Subnet ${name} is being deleted: wait until it is gone`);
    if (!present) await createSubnet(manifest, signal);
    else if (present.networkVersion !== networkVersionOf(network))
      await patchSubnet(
        present,
        { metadata: { annotations: manifest.metadata.annotations }, spec: manifest.spec },
        signal,
      );
    const refusal = subnets.refusalOf(name);
    if (refusal !== undefined) throw new IpledgerError('SUBNET_INVALID', `Subnet ${name} is rejected: ${refusal}`);
    // Waits for the Subnet, whose next change wakes this Network.
    if (!subnets.serves(name)) throw new IpledgerError('UNAVAILABLE', `Subnet ${name} is not in force yet`);
    return { state: 'Created' };
  }

  /** Adds the finalizer, without which a Network could be deleted before its Subnet. */
  async #addFinalizer(network: Ovn4nfvNetwork): Promise<void> {
    const { write, signal } = this.#options;
    const finalizers = addFinalizerPatch(network);
    if (!finalizers) return;
    await write(network, { metadata: { ...versionPrecondition(network), ...finalizers } }, signal);
    throw new IpledgerError('UNAVAILABLE', 'the Network with its finalizer is not observed yet');
  }

  /** Deletes the Subnet. @throws IpledgerError SUBNET_IN_USE while it exists */
  async #retire(key: string): Promise<void> {
    const { objects, deleteSubnet, signal } = this.#options;
    const subnet = this.#subnetOf(key);
    if (!subnet || objects.objects.get(key)?.deleting !== true) return;
    if (!subnet.deleting) await deleteSubnet(subnet, signal);
    throw new IpledgerError(
      'SUBNET_IN_USE',
      `Subnet ${subnet.name} is being deleted, and stays while its addresses are in use: delete the Pods that use them`,
    );
  }

  #writeFailure(network: Ovn4nfvNetwork): void {
    const { writeStatus, log, signal } = this.#options;
    if (network.status['state'] === failedState) return;
    writeStatus(network, { state: failedState }, signal).catch((error: unknown) => {
      if (!signal.aborted) log.debug({ err: error, network: keyOf(network) }, 'networks: the state was not written');
    });
  }
}

/** The state that Nodus gives a Network whose creation failed. */
const failedState = 'CreateInternalError';

function collision(name: string, network: string): string {
  const origin = network === '' ? 'which no Network made' : `which Network ${network} made`;
  return `there is a Subnet ${name}, ${origin}: give this Network another name`;
}

export interface SubnetManifest {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly provider: string;
    readonly cidrBlock: string;
    readonly gateway: string;
    readonly excludeIps: readonly string[];
  };
}

/** Identifies a Network's spec, because the Subnet is written once for each spec. */
const networkVersionOf = ({ uid, generation }: Pick<Ovn4nfvNetwork, 'uid' | 'generation'>): string =>
  `${uid}/${generation}`;

/** Makes the Subnet that the spec of a Network requests. It has the name of the Network. */
function subnetManifestOf(network: Ovn4nfvNetwork): SubnetManifest {
  const { name, ranges } = network;
  const gateways = ranges.map(({ gateway }) => gateway).filter((gateway) => gateway !== '');
  return {
    metadata: {
      name,
      annotations: { [networkAnnotation]: keyOf(network), [networkVersionAnnotation]: networkVersionOf(network) },
    },
    spec: {
      provider: ovn4nfvProvider,
      cidrBlock: ranges.map(({ cidr }) => cidr).join(','),
      gateway: gateways.join(','),
      excludeIps: ranges.flatMap(({ excludeIps }) => excludeIps),
    },
  };
}
