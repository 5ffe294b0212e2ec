/** KubeVirt: machines that start, stop and migrate from one launcher Pod to another. */
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { World } from '../kernel/world.ts';
import type { StoredObject } from './api-server.ts';
import {
  type ClusterUser,
  isDeleting,
  nameOf,
  namespace,
  networksAnnotation,
  nodeOf,
  ownedBy,
  ownerOf,
  phaseOf,
  podsPath,
  reactToChanges,
  uidOf,
} from './cluster-user.ts';

const group = '/apis/kubevirt.io/v1';
export const machineKinds = { machines: `${group}/virtualmachines`, instances: `${group}/virtualmachineinstances` };
const machinesPath = `${group}/namespaces/${namespace}/virtualmachines`;
const instancesPath = `${group}/namespaces/${namespace}/virtualmachineinstances`;
const instanceFinalizer = 'foregroundDeleteVirtualMachine';

export class VirtualMachines {
  readonly #user: ClusterUser;
  readonly #random: SeededRandom;
  /** Whether no migration ends: both launchers run on. */
  readonly #hangs: boolean;
  /** The uids of instances that are to migrate. */
  readonly #migrating = new Set<string>();

  constructor(world: World, user: ClusterUser) {
    this.#user = user;
    this.#random = world.random('virtual machines');
    this.#hangs = world.random('migrations').nextBoolean(0.3);
    reactToChanges(world, user.model, this.#random, () => this.#reconcile());
  }

  /** Makes a machine, or starts or stops it. */
  run(name: string, running: boolean): void {
    const body = { metadata: { name }, spec: { running } };
    if (!this.#user.try('POST', machinesPath, body))
      this.#user.try('PATCH', `${machinesPath}/${name}`, { spec: { running } });
  }

  remove(name: string): void {
    this.#user.try('DELETE', `${machinesPath}/${name}`);
  }

  migrate(name: string): void {
    const instance = this.#instances().find((each) => nameOf(each) === name);
    if (instance) this.#migrating.add(uidOf(instance));
  }

  #instances(): readonly StoredObject[] {
    return this.#user.model.objectsOf({ kind: machineKinds.instances, namespace });
  }

  #reconcile(): void {
    const machines = this.#user.model.objectsOf({ kind: machineKinds.machines, namespace });
    for (const machine of machines)
      if (asRecord(machine['spec'])['running'] === true)
        this.#user.try('POST', instancesPath, {
          metadata: {
            name: nameOf(machine),
            finalizers: [instanceFinalizer],
            ownerReferences: ownedBy('kubevirt.io/v1', 'VirtualMachine', machine),
          },
          spec: {},
        });
    for (const instance of this.#instances()) {
      const machine = machines.find((each) => uidOf(each) === ownerOf(instance)['uid']);
      const isWanted = machine !== undefined && asRecord(machine['spec'])['running'] === true;
      if (!isWanted && !isDeleting(instance)) this.#user.try('DELETE', `${instancesPath}/${nameOf(instance)}`);
      this.#reconcileInstance(instance);
    }
  }

  #reconcileInstance(instance: StoredObject): void {
    const [name, uid] = [nameOf(instance), uidOf(instance)];
    const launchers = this.#user.pods().filter((pod) => ownerOf(pod)['uid'] === uid);
    if (isDeleting(instance)) {
      for (const pod of launchers) if (!isDeleting(pod)) this.#user.deletePod(nameOf(pod));
      if (launchers.length === 0) this.#user.try('PATCH', `${instancesPath}/${name}`, { metadata: { finalizers: [] } });
      return;
    }
    const activePods = Object.fromEntries(launchers.map((pod) => [uidOf(pod), nodeOf(pod)]));
    this.#user.try('PATCH', `${instancesPath}/${name}/status`, { status: { activePods } });
    const living = launchers.filter((pod) => !isDeleting(pod) && phaseOf(pod) !== 'Succeeded');
    const [source, target] = living.toSorted((one, other) => (createdAt(one) < createdAt(other) ? -1 : 1));
    if (!source) this.#createLauncher(instance);
    else if (target && phaseOf(target) === 'Running') {
      // The source ends when the memory has moved.
      const body = { metadata: { uid: uidOf(source) }, status: { phase: 'Succeeded' } };
      if (!this.#hangs && this.#random.nextBoolean(0.5))
        this.#user.try('PATCH', `${podsPath}/${nameOf(source)}/status`, body);
    } else if (!target && phaseOf(source) === 'Running' && this.#migrating.delete(uid)) this.#createLauncher(instance);
  }

  #createLauncher(instance: StoredObject): void {
    const suffix = String(this.#random.nextInt(90_000) + 10_000);
    const metadata = {
      name: `virt-launcher-${nameOf(instance)}-${suffix}`,
      annotations: { [networksAnnotation]: 'macvlan' },
      ownerReferences: ownedBy('kubevirt.io/v1', 'VirtualMachineInstance', instance),
    };
    this.#user.try('POST', podsPath, { metadata, spec: { restartPolicy: 'Never' } });
  }
}

const createdAt = ({ metadata }: StoredObject): string =>
  `${asText(metadata['creationTimestamp'])} ${asText(metadata['name'])}`;
