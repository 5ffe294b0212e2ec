/**
 * What the chart installs: replicas, versions, Leases, backups, definitions, permissions, plugins.
 */
import type { Facts, Network, Program } from '../../../installation/facts.ts';
import { alertFinding, type Check, type Finding } from './finding.ts';
import { valueOf, whereOf } from './metric-checks.ts';
import { isMultus } from './pod-checks.ts';

const backupLateMs = 90 * 60_000;

/** All programs have one version. */
export const checkVersions: Check = ({ programs = [], version }, { listVersions }) => {
  const versions = Map.groupBy(
    programs.filter((each) => each.version !== ''),
    (each) => each.version,
  );
  const document = 'docs/install.md#upgrade';
  if (versions.size > 1) {
    const what = [...versions].map(([each, of]) => `${each}: ${describePrograms(of)}`).join('; ');
    return [
      { severity: 'warning', where: 'versions', what: `The programs differ. ${what}`, remedy: listVersions, document },
    ];
  }
  const [installed] = versions.keys();
  if (installed === undefined || installed === version) return [];
  const what = `This command line has version ${version}, the programs have ${installed}.`;
  return [{ severity: 'note', where: 'versions', what, remedy: `install ipledger ${installed} here`, document }];
};

/** "3 allocator, 1 node-agent (agent-x)" */
const describePrograms = (programs: readonly Program[]): string =>
  [...Map.groupBy(programs, ({ component }) => component)]
    .map(([component, of]) => `${of.length} ${component} (${of[0]?.name}${of.length > 1 ? ', …' : ''})`)
    .join(', ');

/** A pod-watcher renews the Lease. */
export const checkLeases: Check = ({ leases = [], namespace }) =>
  leases.flatMap(({ name, holder }) => {
    if (holder !== undefined) return [];
    const remedy = `kubectl -n ${namespace} get lease ${name} -o yaml  # then the log of its holder`;
    const series = { labels: {}, value: 0 };
    return [alertFinding('IpledgerNoActivePodWatcher', `Lease ${name}`, series, remedy)];
  });

export const checkBackup: Check = ({ backup, namespace, gatheredAt }) => {
  if (!backup) return [];
  const { scheduledAt, succeededAt, isSuspended } = backup;
  const where = 'CronJob ipledger-etcd-backup';
  const document = 'docs/runbooks.md#ipledgerbackupfailed';
  if (isSuspended) {
    const remedy = `kubectl -n ${namespace} patch cronjob ipledger-etcd-backup -p '{"spec":{"suspend":false}}'`;
    return [{ severity: 'warning', where, what: 'It is suspended: there are no new backups.', remedy, document }];
  }
  const isOpen = scheduledAt !== '' && !(Date.parse(succeededAt) >= Date.parse(scheduledAt));
  if (!isOpen || Date.parse(gatheredAt) - Date.parse(scheduledAt) < backupLateMs) return [];
  const remedy = `kubectl get jobs,pods -n ${namespace} -l app.kubernetes.io/component=etcd-jobs`;
  return [alertFinding('IpledgerBackupFailed', where, { labels: { namespace }, value: 0 }, remedy)];
};

/** The CustomResourceDefinitions of Multus and ipledger exist. */
export const checkDefinitions: Check = ({ definitions = [] }) =>
  definitions.flatMap(({ name, isEstablished }): Finding[] => {
    if (isEstablished === true) return [];
    const where = `CustomResourceDefinition ${name}`;
    const what = isEstablished === undefined ? 'There is none.' : 'It is not established.';
    const isOfMultus = name.endsWith('.k8s.cni.cncf.io');
    const remedy = isOfMultus ? 'install Multus  # it attaches the networks' : 'ipledger install-crds deploy/crds';
    const document = `docs/install.md#${isOfMultus ? 'before-you-begin' : 'customresourcedefinitions'}`;
    return [{ severity: 'critical', where, what, remedy, document }];
  });

/**
 * A DaemonSet of Multus, unless containers have addresses: Multus can also be installed on nodes.
 */
export const checkMultus: Check = ({ workloads, comparison }) => {
  if (!workloads || workloads.some(isMultus) || comparison === undefined || comparison.bindings > 0) return [];
  const what = 'There is no DaemonSet of it, and no container has an address: no Pod gets a secondary network.';
  const document = 'docs/install.md#before-you-begin';
  return [{ severity: 'warning', where: 'Multus', what, remedy: 'install Multus', document }];
};

/** The ServiceAccounts have their roles. */
export const checkPermissions: Check = ({ permissions = [], namespace }) =>
  permissions.flatMap(({ role, missing }): Finding[] => {
    if (missing.length === 0) return [];
    const what = `Missing: ${missing.join('; ')}.`;
    const remedy = `helm upgrade ipledger deploy/chart -n ${namespace} --values my-values.yaml  # the values of the installation; it restores the roles`;
    const document = 'docs/runbooks.md#ipledgernoactivepodwatcher';
    return [{ severity: 'critical', where: role, what, remedy, document }];
  });

/** The plugin file of each node is that of its agent. */
export const checkPlugins: Check = ({ programs = [] }, { installPlugin }) =>
  programs.flatMap((program): Finding[] => {
    if (valueOf(program, 'ipledger_plugin_current') !== 0) return [];
    const where = program.node === '' ? whereOf(program) : `Node ${program.node}`;
    const what = 'Its CNI plugin is missing, or another file than that of its agent.';
    const remedy = installPlugin(program.name);
    return [{ severity: 'critical', where, what, remedy, document: 'docs/operations.md#agent-and-plugin' }];
  });

/** The sockets of the agents, on which plugins call them; empty if they are not known. */
const socketsOf = ({ programs = [] }: Facts): Set<string> =>
  new Set(programs.flatMap(({ settings }) => settings['IPLEDGER_SOCKETS']?.split(',') ?? []));

/** The networks have a configuration that the plugin, the agent and a Subnet can serve. */
export const checkNetworks: Check = (facts) => {
  const { networks = [], subnets } = facts;
  const served = subnets && new Set(subnets.map(({ provider }) => provider));
  const sockets = socketsOf(facts);
  const problemOf = ({ provider = '', configuredProvider = '', socket = '', problem }: Network): string | undefined => {
    if (problem !== undefined) return problem;
    if (configuredProvider !== provider)
      return `its provider is ${JSON.stringify(configuredProvider)}, and must be ${JSON.stringify(provider)}`;
    if (served && !provider.endsWith('.ovn') && !served.has(provider)) return `no Subnet has the provider ${provider}`;
    if (socket === '' || sockets.size === 0 || sockets.has(socket)) return undefined;
    return `its server_socket is ${socket}, and the agents listen on ${[...sockets].join(', ')}`;
  };
  return networks.flatMap((network): Finding[] => {
    const what = problemOf(network);
    if (what === undefined) return [];
    const [namespace = '', name = ''] = network.key.split('/');
    const remedy = `kubectl -n ${namespace} edit network-attachment-definitions ${name}`;
    const document = 'docs/troubleshooting.md#a-pod-gets-no-address';
    return [{ severity: 'warning', where: `NetworkAttachmentDefinition ${network.key}`, what, remedy, document }];
  });
};

/** The conditions of Subnets. */
export const checkSubnets: Check = ({ subnets = [] }) =>
  subnets.flatMap(({ name, conditions }) =>
    conditions.map(({ type, message }): Finding => {
      const what = `${type === 'Ready' ? 'It is not ready' : type}: ${message}`;
      const document =
        type === 'AddressOverlap'
          ? 'docs/operations.md#two-networks-on-one-broadcast-domain'
          : 'docs/troubleshooting.md#a-pod-gets-no-address';
      return {
        severity: 'warning',
        where: `Subnet ${name}`,
        what,
        remedy: `kubectl describe subnet ${name}`,
        document,
      };
    }),
  );
