/** Reads the networks of ipledger: NetworkAttachmentDefinitions, Subnets and their conditions. */
import { errorMessage } from '../../lib/errors.ts';
import { servedKind } from '../../lib/kubernetes/served-network.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import { collectionPaths } from '../cluster/read-cluster.ts';
import { parsePlugins } from '../cluster/requested-attachments.ts';
import type { Facts, Network } from './facts.ts';

type Reader = Pick<KubernetesClient, 'list' | 'besideKubeOvn'>;

/** Those that ipledger serves, and those that no program can read. @throws CliError */
export async function readNetworks(kubernetes: Reader): Promise<Network[]> {
  const items = await kubernetes.list(collectionPaths.Network);
  return items.flatMap((item) => parseNetwork(item, kubernetes.besideKubeOvn) ?? []);
}

function parseNetwork(item: UntypedJson, besideKubeOvn: boolean): Network | undefined {
  const metadata = asRecord(item['metadata']);
  const [namespace, name] = [asText(metadata['namespace']), asText(metadata['name'])];
  const key = `${namespace}/${name}`;
  const config = asText(asRecord(item['spec'])['config']);
  if (config.trim() === '') return undefined; // Multus reads a file of the node
  try {
    JSON.parse(config);
  } catch (error) {
    return { key, problem: `its spec.config is not valid JSON: ${errorMessage(error)}` };
  }
  const plugins = parsePlugins(config);
  if (plugins.every(({ type }) => type === '')) return { key, problem: 'its spec.config has neither type nor plugins' };
  const served = servedKind(plugins, besideKubeOvn);
  if (served === undefined || served.kind === 'ovn4nfv') return undefined;
  const source = served.kind === 'ovn' ? plugins[0] : served.plugin.ipam;
  return {
    key,
    provider: served.kind === 'ovn' ? `${name}.${namespace}.ovn` : `${name}.${namespace}`,
    configuredProvider: source?.provider ?? '',
    socket: source?.socket ?? '',
  };
}

/** Conditions whose other status needs an operator. */
const healthy: Readonly<Record<string, string>> = { Ready: 'True', AddressOverlap: 'False' };

/** @throws CliError */
export async function readSubnets(kubernetes: Reader): Promise<NonNullable<Facts['subnets']>> {
  const items = await kubernetes.list(collectionPaths.Subnet);
  return items.map((item) => ({
    name: asText(asRecord(item['metadata'])['name']),
    provider: asText(asRecord(item['spec'])['provider']),
    conditions: asRecords(asRecord(item['status'])['conditions']).flatMap((condition) => {
      const type = asText(condition['type']);
      const isHealthy = healthy[type] === undefined || healthy[type] === condition['status'];
      return isHealthy ? [] : [{ type, message: asText(condition['message']) }];
    }),
  }));
}
