/** Local volumes of the workers, and the default StorageClass that binds claims to them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from '../../harness/node/worker.ts';

const className = 'local';
const volumeFolder = '/var/lib/volumes';

/** Creates folders on the workers. Returns the StorageClass and a volume for each folder. */
export function createStorage(workers: readonly Worker[], volumesPerWorker: number): object[] {
  const volumes = workers.flatMap(({ name, machine }) =>
    Array.from({ length: volumesPerWorker }, (_, number) => {
      const path = join(volumeFolder, String(number));
      mkdirSync(machine.path(path), { recursive: true });
      return volume(name, number, path);
    }),
  );
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: className, annotations },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    ...volumes,
  ];
}

function volume(worker: string, number: number, path: string): object {
  const onWorker = { key: 'kubernetes.io/hostname', operator: 'In', values: [worker] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${worker}-${number}` },
    spec: {
      capacity: { storage: '20Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: className,
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onWorker] }] } },
    },
  };
}
