/** install-plugin: copies the CNI plugin into the node's folder, as an init container. */
import { join } from 'node:path';
import { Command } from 'commander';
import { createLogger } from '../../lib/process/log.ts';
import { version } from '../../lib/process/version.ts';
import { ovn4nfvTypes, ownIpamType } from '../../lib/kubernetes/served-network.ts';
import { installPlugin, linkPlugin } from './plugin-installer/plugin-installer.ts';

const program = new Command('install-plugin')
  .description("copies the CNI plugin into the node's plugin folder; containers that start see the old or the new one")
  .version(version)
  .argument('<folder>', 'folder of the CNI plugins, as /opt/cni/bin')
  .option('--plugin <file>', 'the plugin to copy', join(import.meta.dirname, 'kube-ovn'))
  .option(
    '--name <name>',
    'the only name of the copy; without it, that of the plugin and those of other types it serves',
  )
  .parse();

const [folder = ''] = program.args;
const { plugin, name } = program.opts<{ plugin: string; name?: string }>();
const log = createLogger('install-plugin');
try {
  const file = await installPlugin(plugin, folder, name);
  log.info({ file }, 'installed the CNI plugin');
  const taken = name === undefined ? await linkPlugin(file, [...ovn4nfvTypes, ownIpamType]) : [];
  if (taken.length > 0)
    log.warn(
      { taken, folder },
      'another CNI plugin has these names, and serves configurations of these types: remove its files, if ipledger replaces it',
    );
} catch (error) {
  log.fatal({ err: error }, 'could not install the CNI plugin: check that the plugin folder of the node is mounted');
  process.exitCode = 1;
}
