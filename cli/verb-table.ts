/** The verbs in the order of --help. A verb's module is imported only when the verb runs. */
import type { Command } from 'commander';

export interface VerbEntry {
  /** Name and arguments. */
  readonly usage: string;
  readonly description: string;
  /** Imports the function that adds the verb's options and action to its command. */
  readonly load: () => Promise<(verb: Command) => void>;
}

export const verbTable: readonly VerbEntry[] = [
  {
    usage: 'subnets',
    description: 'list the subnets and their usage, and the position of the ledger',
    load: async () => (await import('./verbs/subnets.ts')).defineSubnets,
  },
  {
    usage: 'status',
    description: 'print the position of the ledger, its oldest event, and whether it is frozen',
    load: async () => (await import('./verbs/status.ts')).defineStatus,
  },
  {
    usage: 'doctor',
    description: 'report what is wrong with an installation, why, and what to do',
    load: async () => (await import('./verbs/doctor/doctor.ts')).defineDoctor,
  },
  {
    usage: 'sysdump',
    description: 'write a support bundle, without secrets, which doctor --bundle reads',
    load: async () => (await import('./verbs/sysdump/sysdump.ts')).defineSysdump,
  },
  {
    usage: 'selftest',
    description: 'attach Pods on chosen nodes, and prove each step from the ledger',
    load: async () => (await import('./verbs/selftest/selftest.ts')).defineSelftest,
  },
  {
    usage: 'allocations',
    description: 'list the current allocations',
    load: async () => (await import('./verbs/allocations.ts')).defineAllocations,
  },
  {
    usage: 'who-had <address>',
    description: 'print which Pod had an address at a time, and why it was allocated and released',
    load: async () => (await import('./verbs/who-had/who-had.ts')).defineWhoHad,
  },
  {
    usage: 'history <subject> [name]',
    description: 'list the events of an address, a Pod, a subnet, a node or an owner, newest first',
    load: async () => (await import('./verbs/history.ts')).defineHistory,
  },
  {
    usage: 'why <namespace/pod>',
    description: 'explain the state of a Pod: its allocations, refusals, bindings, and what it waits for',
    load: async () => (await import('./verbs/why/why.ts')).defineWhy,
  },
  {
    usage: 'state',
    description: 'list the allocations, reservations and quarantines at a time, or after an event',
    load: async () => (await import('./verbs/state.ts')).defineState,
  },
  {
    usage: 'diff',
    description: 'list the differences between two times, or events',
    load: async () => (await import('./verbs/diff.ts')).defineDiff,
  },
  {
    usage: 'watch',
    description: 'print events as they happen, until Ctrl-C',
    load: async () => (await import('./verbs/watch.ts')).defineWatch,
  },
  {
    usage: 'reserve [address...]',
    description: 'reserve one address, or one of each family; without an address: any free one',
    load: async () => (await import('./verbs/reserve.ts')).defineReserve,
  },
  {
    usage: 'unreserve [address...]',
    description: 'end reservations; a Pod that holds the address keeps it',
    load: async () => (await import('./verbs/reserve.ts')).defineUnreserve,
  },
  {
    usage: 'release <address|namespace/pod>',
    description: 'release the allocation of an address, or all allocations of a Pod',
    load: async () => (await import('./verbs/release.ts')).defineRelease,
  },
  {
    usage: 'unbind <address|node>',
    description: 'end the bindings of released addresses, for containers that have ended without a CNI DEL',
    load: async () => (await import('./verbs/unbind.ts')).defineUnbind,
  },
  {
    usage: 'quarantine <address>',
    description: 'stop new allocations of an address; a Pod that holds the address keeps it',
    load: async () => (await import('./verbs/quarantine.ts')).defineQuarantine,
  },
  {
    usage: 'unquarantine [address...]',
    description: 'end a quarantine: the address can be allocated again',
    load: async () => (await import('./verbs/quarantine.ts')).defineUnquarantine,
  },
  {
    usage: 'verify',
    description: 'verify the hash chain of the log, and every other key in etcd against the log',
    load: async () => (await import('./verbs/verify.ts')).defineVerify,
  },
  {
    usage: 'checkpoint',
    description: 'print a signed checkpoint of the ledger; keep it where no writer of etcd can change it',
    load: async () => (await import('./verbs/checkpoint.ts')).defineCheckpoint,
  },
  {
    usage: 'checkpoint-key <file>',
    description: 'make a key pair for checkpoints: FILE for the allocators, FILE.pub for verifiers',
    load: async () => (await import('./verbs/checkpoint.ts')).defineCheckpointKey,
  },
  {
    usage: 'export',
    description: 'print the stored events on stdout, one line of JSON each',
    load: async () => (await import('./verbs/export.ts')).defineExport,
  },
  {
    usage: 'replay <export>',
    description: 'write a complete export into an empty ledger in etcd',
    load: async () => (await import('./verbs/replay.ts')).defineReplay,
  },
  {
    usage: 'replace-etcd-member <peer-url>',
    description: 'remove a member of etcd that lost its data, and add it again',
    load: async () => (await import('./verbs/replace-etcd-member.ts')).defineReplaceEtcdMember,
  },
  {
    usage: 'with-etcd <command...>',
    description: 'run a command, as etcdctl, with access to the etcd of the cluster',
    load: async () => (await import('./verbs/with-etcd.ts')).defineWithEtcd,
  },
  {
    usage: 'check',
    description: 'compare the ledger with the Pods, IP objects and Subnets of the Kubernetes API',
    load: async () => (await import('./verbs/check.ts')).defineCheck,
  },
  {
    usage: 'import',
    description: 'import the addresses that another IPAM allocated',
    load: async () => (await import('./verbs/import.ts')).defineImport,
  },
  {
    usage: 'recover',
    description: 'bring a ledger that was restored from a backup up to the state of the cluster',
    load: async () => (await import('./verbs/recover/recover.ts')).defineRecover,
  },
  {
    usage: 'accept-mass-deletion [namespace...]',
    description: 'let the pod-watcher release what missing Pods and Nodes hold, because they were really deleted',
    load: async () => (await import('./verbs/accept-mass-deletion.ts')).defineAcceptMassDeletion,
  },
  {
    usage: 'install-crds <path...>',
    description: 'create the CustomResourceDefinitions of ipledger, or extend those that the cluster has',
    load: async () => (await import('./verbs/install-crds.ts')).defineInstallCrds,
  },
  {
    usage: 'uninstall',
    description: "remove ipledger's objects and finalizers from Kubernetes; the ledger stays in etcd",
    load: async () => (await import('./verbs/uninstall.ts')).defineUninstall,
  },
  {
    usage: 'completion <shell> [words...]',
    description: 'print a completion script for a shell',
    load: async () => (await import('./verbs/completion/completion.ts')).defineCompletion,
  },
];
