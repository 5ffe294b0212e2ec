/** The node agent: serves the CNI plugin of one node on the daemon socket. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Option } from 'commander';
import { defaultIntegrationBridge } from '../../lib/ovn/names.ts';
import { runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { allocatorOption, healthListenOption, parseOptions } from '../../lib/process/options.ts';
import { tracingOptions } from '../../lib/tracing/open-tracing.ts';
import { defaultSysctls } from './requests/sandbox.ts';
import { type AgentOptions, startAgent } from './wiring.ts';

const splitList = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  ...text.split(',').filter((item) => item !== ''),
];

const options = parseOptions('node-agent', 'serves the CNI plugin of one node', [
  allocatorOption(),
  new Option('--socket <path>', 'path of the unix socket; repeat it, or join several with commas')
    .env('IPLEDGER_SOCKETS')
    .argParser(splitList)
    .makeOptionMandatory(),
  new Option('--node <name>', "the node's name in Kubernetes").env('IPLEDGER_NODE').default(hostname()),
  healthListenOption(),
  new Option('--pending-dels <folder>', 'folder of DELs saved while the agent or the allocator was unavailable')
    .env('IPLEDGER_PENDING_DELS')
    .default('/var/lib/cni/ipledger'),
  new Option('--bindings <folder>', "folder of this node's bindings, to restore them after a restore of the ledger")
    .env('IPLEDGER_BINDINGS')
    .default('/var/lib/ipledger/bindings'),
  new Option('--sysctls <folder>', "a writable mount of the node's /proc/sys/net, for IPv6 in the sandboxes of Pods")
    .env('IPLEDGER_SYSCTLS')
    .default(defaultSysctls),
  new Option('--boot-id-file <path>', 'file with the ID of the present boot; bindings of other boots are void')
    .env('IPLEDGER_BOOT_ID_FILE')
    .default('/proc/sys/kernel/random/boot_id'),
  new Option(
    '--ovs-db <endpoint>',
    "the node's Open vSwitch database, unix:/path; off if empty: no NICs of type kube-ovn",
  )
    .env('IPLEDGER_OVS_DB')
    .default(''),
  new Option('--ovs-bridge <name>', "OVN's integration bridge")
    .env('IPLEDGER_OVS_BRIDGE')
    .default(defaultIntegrationBridge),
  new Option(
    '--installed-plugin <file>',
    'the CNI plugin in the folder of the node, which the metrics compare; not compared if empty',
  )
    .env('IPLEDGER_INSTALLED_PLUGIN')
    .default(''),
  new Option('--plugin <file>', 'the CNI plugin of this version, for that comparison; it also probes addresses')
    .env('IPLEDGER_PLUGIN')
    .default(join(import.meta.dirname, 'kube-ovn')),
  new Option(
    '--token-file <path>',
    'ServiceAccount token with audience ipledger that identifies this agent, instead of a certificate',
  ).env('IPLEDGER_TOKEN_FILE'),
  ...tracingOptions(),
]).opts<AgentOptions>();

const log = createLogger('node-agent');

await runProgram(log, (life) => startAgent(options, life, log));
