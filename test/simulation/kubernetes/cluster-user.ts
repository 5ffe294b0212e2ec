/**
 * What people and controllers do with the API server, without a network: a failure is their next
 * look.
 */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord, asText, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { World } from '../kernel/world.ts';
import type { ApiServer, StoredObject } from './api-server.ts';

export const namespace = 'default';
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';

export class ClusterUser {
  readonly model: ApiServer;

  constructor(model: ApiServer) {
    this.model = model;
  }

  /** The reply; undefined if the server refuses. */
  try(method: ApiRequest['method'], path: string, body?: unknown): UntypedJson | undefined {
    try {
      return asRecord(this.model.handle({ method, path, body }));
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  pods(): readonly StoredObject[] {
    return this.model.objectsOf({ kind: '/api/v1/pods', namespace });
  }

  /** @param graceSeconds undefined: that of the Pod */
  deletePod(name: string, graceSeconds?: number): void {
    this.try('DELETE', `${podsPath}/${name}`, graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds });
  }
}

export const nameOf = ({ metadata }: StoredObject): string => asText(metadata['name']);
export const uidOf = ({ metadata }: StoredObject): string => asText(metadata['uid']);
export const nodeOf = ({ spec }: StoredObject): string => asText(asRecord(spec)['nodeName']);
export const phaseOf = ({ status }: StoredObject): string => asText(asRecord(status)['phase']);
export const isDeleting = ({ metadata }: StoredObject): boolean => metadata['deletionTimestamp'] !== undefined;

/** The controller in the owner references; {} without one. */
export function ownerOf({ metadata }: StoredObject): UntypedJson {
  const references = metadata['ownerReferences'];
  return Array.isArray(references)
    ? (references.map(asRecord).find(({ controller }) => controller === true) ?? {})
    : {};
}

export const ownedBy = (apiVersion: string, kind: string, owner: StoredObject) => [
  { apiVersion, kind, name: nameOf(owner), uid: uidOf(owner), controller: true },
];

/** Calls `act` some time after each change of the cluster, and every 20 s. */
export function reactToChanges(world: World, model: ApiServer, random: SeededRandom, act: () => void): void {
  let isPlanned = false;
  const plan = (maxMs: number): void => {
    if (isPlanned) return;
    isPlanned = true;
    world.after(random.nextInt(maxMs), () => {
      isPlanned = false;
      act();
    });
  };
  model.onChange(() => plan(2_000));
  const repeat = (): void => {
    plan(1);
    world.after(20_000, repeat);
  };
  repeat();
}
