/** Remedies for programs that do not run as Pods. */

/** Replaces commands for the Pods of the chart by what a person does without them. */
export const withoutPods = (remedy: string): string =>
  remedy
    .replace(/kubectl \S+ \S+ logs -l \S+component=(\S+) --tail=-1 --prefix/, 'read the log of the $1')
    .replace(/kubectl \S+ \S+ get pods -l \S+component=(\S+) -o wide/, 'read the log of this $1, or start it')
    .replace(/^kubectl \S+ \S+ delete pod .*/, 'install the plugin of this version on the node of the agent')
    .replace(/^helm list .*/, 'start all programs in one version')
    .replace(/ipledger with-etcd (?:--secret \S+ )?/, '');
