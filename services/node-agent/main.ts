/** The node agent: serves the CNI plugin on the daemon socket of one node, with the allocator's gRPC API. */
import { hostname } from 'node:os';
import { Command, Option } from 'commander';
import { defaultIntegrationBridge } from '../../lib/ovn/names.ts';
import { runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { version } from '../../lib/process/version.ts';
import { tracingOptions } from '../../lib/tracing/open-tracing.ts';
import { defaultSysctls } from './requests/sandbox.ts';
import { type AgentOptions, startAgent } from './wiring.ts';

const splitList = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  ...text.split(',').filter((item) => item !== ''),
];

const program = new Command('node-agent')
  .description('serves the CNI plugin of one node')
  .version(version)
  .addOption(
    new Option('--allocator <host:port>', 'address of the allocator; join replicas with commas')
      .env('IPLEDGER_ENDPOINT')
      .makeOptionMandatory(),
  )
  .addOption(
    new Option('--socket <path>', 'path of the unix socket; repeat it, or join several with commas')
      .env('IPLEDGER_SOCKETS')
      .argParser(splitList)
      .makeOptionMandatory(),
  )
  .addOption(new Option('--node <name>', "the node's name in Kubernetes").env('IPLEDGER_NODE').default(hostname()))
  .addOption(
    new Option(
      '--health-listen <host:port>',
      'addresses of HTTP /livez, /readyz and /metrics, separated by commas; none if empty',
    )
      .env('IPLEDGER_HEALTH_LISTEN')
      .default(''),
  )
  .addOption(
    new Option('--pending-dels <folder>', 'folder of DELs saved while the agent or the allocator was unavailable')
      .env('IPLEDGER_PENDING_DELS')
      .default('/var/lib/cni/ipledger'),
  )
  .addOption(
    new Option('--bindings <folder>', "folder of this node's bindings, to restore them after a restore of the ledger")
      .env('IPLEDGER_BINDINGS')
      .default('/var/lib/ipledger/bindings'),
  )
  .addOption(
    new Option('--sysctls <folder>', "a writable mount of the node's /proc/sys/net, for IPv6 in the sandboxes of Pods")
      .env('IPLEDGER_SYSCTLS')
      .default(defaultSysctls),
  )
  .addOption(
    new Option('--boot-id-file <path>', 'file with the ID of the present boot; bindings of other boots are void')
      .env('IPLEDGER_BOOT_ID_FILE')
      .default('/proc/sys/kernel/random/boot_id'),
  )
  .addOption(
    new Option(
      '--ovs-db <endpoint>',
      "the node's Open vSwitch database, unix:/path; off if empty: no NICs of type kube-ovn",
    )
      .env('IPLEDGER_OVS_DB')
      .default(''),
  )
  .addOption(
    new Option('--ovs-bridge <name>', "OVN's integration bridge")
      .env('IPLEDGER_OVS_BRIDGE')
      .default(defaultIntegrationBridge),
  )
  .addOption(
    new Option(
      '--token-file <path>',
      'ServiceAccount token with audience ipledger that identifies this agent, instead of a certificate',
    ).env('IPLEDGER_TOKEN_FILE'),
  );
for (const option of tracingOptions()) program.addOption(option);
const options = program.parse().opts<AgentOptions>();

const log = createLogger('node-agent');

await runProgram(log, (life) => startAgent(options, life, log));
