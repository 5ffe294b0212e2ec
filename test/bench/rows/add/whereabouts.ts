/**
 * The peer whereabouts: an IPAM plugin that allocates in objects of the Kubernetes API, under one
 * Lease of the cluster.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPlugin } from '../../../../services/node-agent/plugin-installer/plugin-installer.ts';
import { startCluster } from '../../../harness/kubernetes/cluster.ts';
import { applyCrds } from '../../../harness/kubernetes/kubectl.ts';
import { moduleFolder } from '../../../harness/programs/build-program.ts';
import { findProgram } from '../../../harness/programs/find-program.ts';
import type { Run } from '../../../harness/run.ts';
import { node } from './add-environment.ts';
import { type AddPods, addsOf } from './plugin-calls.ts';

const kinds = ['ippools', 'overlappingrangeipreservations', 'nodeslicepools'];

/** A range of the plugin's configuration. */
export interface Range {
  readonly range: string;
  readonly range_start?: string;
  readonly range_end?: string;
}

/**
 * Starts an API server with the plugin's CustomResourceDefinitions. Returns the ADDs of the plugin
 * in a range, with its default settings.
 */
export async function openWhereabouts(run: Run): Promise<(range: Range) => AddPods> {
  const [file, folder, cluster] = await Promise.all([
    findProgram('whereabouts').then((found) => installPlugin(found, run.folder)),
    moduleFolder('whereabouts', 'github.com/k8snetworkplumbingwg/whereabouts'),
    startCluster(run, { controllers: false, crds: false }),
  ]);
  const crds = kinds.map((kind) => join(folder, 'doc', 'crds', `whereabouts.cni.cncf.io_${kind}.yaml`));
  await applyCrds(cluster.kubectl, crds);
  const defaults = join(run.folder, 'whereabouts.conf');
  writeFileSync(defaults, '{}'); // the plugin fails without the file
  const settings = {
    type: 'whereabouts',
    kubernetes: { kubeconfig: cluster.kubeconfig },
    configuration_path: defaults,
    log_level: 'error',
  };
  return (range) => addsOf(() => ({ file, ipam: { ...settings, ...range }, env: { NODENAME: node } }));
}
