/** Commands for remedies about the programs, which differ with the place where these run. */
export interface Commands {
  /** The log of all Pods of a component. */
  readonly readLog: (component: string) => string;
  /** Where the Pods of a component run, and whether they do. */
  readonly findPods: (component: string) => string;
  /** `etcdctl` as a user who only reads. */
  readonly etcdctl: string;
  readonly etcdctlAsRoot: string;
  /** The versions of the programs. */
  readonly listVersions: string;
  /** @param agent name of its program */
  readonly installPlugin: (agent: string) => string;
}

/** Returns the commands for Pods of the chart in a namespace. */
export const commandsForPods = (namespace: string): Commands => ({
  readLog: (component) => `kubectl -n ${namespace} logs -l app.kubernetes.io/component=${component} --tail=-1 --prefix`,
  findPods: (component) => `kubectl -n ${namespace} get pods -l app.kubernetes.io/component=${component} -o wide`,
  etcdctl: `ipledger with-etcd --namespace ${namespace} etcdctl`,
  etcdctlAsRoot: `ipledger with-etcd --namespace ${namespace} --secret ipledger-etcd-root etcdctl`,
  listVersions: `helm list -n ${namespace}  # end the upgrade, or roll it back`,
  installPlugin: (agent) => `kubectl -n ${namespace} delete pod ${agent}  # its init container installs the plugin`,
});

/** The commands for programs that do not run as Pods. */
export const commandsWithoutPods: Commands = {
  readLog: (component) => `read the log of the ${component}`,
  findPods: (component) => `read the log of this ${component}, or start it`,
  etcdctl: 'etcdctl',
  etcdctlAsRoot: 'etcdctl',
  listVersions: 'start all programs in one version',
  installPlugin: () => 'install the plugin of this version on the node of the agent',
};
