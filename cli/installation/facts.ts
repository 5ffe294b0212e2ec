/**
 * The facts about an installation that `doctor` judges: plain JSON, so that a support bundle can
 * hold them. A part that could not be read is absent, and a gap states why.
 */
import * as z from 'zod';

const text = z.string();
const count = z.number();

/** One value of a metric. */
const sample = z.object({ name: text, labels: z.record(text, text), value: z.number() });

/** A Pod of ipledger, or a program outside of Pods. */
const program = z.object({
  /** "allocator", "pod-watcher", "node-agent", …; "" if it is not known. */
  component: text,
  /** Name of the Pod, or "host:port". */
  name: text,
  /** "" outside of Pods. */
  node: text,
  isReady: z.boolean(),
  version: text,
  image: text,
  /** Environment variables of the container that name files and sockets. */
  settings: z.record(text, text),
  /** Absent if its metrics could not be read. */
  samples: z.array(sample).optional(),
});

/** Why a Pod of ipledger does not run, in the words of Kubernetes. */
const podProblem = z.object({
  component: text,
  name: text,
  /** "" for a Pod that is on none. */
  node: text,
  /** A container that was killed, and runs again, belongs to a ready Pod. */
  isReady: z.boolean(),
  /** "" for the Pod itself. */
  container: text,
  /** "CrashLoopBackOff", "Unschedulable", "OOMKilled"; "NotReady" if Kubernetes names none. */
  reason: text,
  message: text,
  restarts: count,
  /** The PersistentVolumeClaims of the Pod. */
  claims: z.array(text),
});

/** The newest warning Event of a reason about an object in the namespace of ipledger. */
const warning = z.object({ kind: text, name: text, reason: text, message: text, at: text });

/** A Pod of a tenant that waits, because its networks cannot be set up, and the error of CNI. */
const sandboxFailure = z.object({ pod: text, node: text, message: text });

/** A Deployment, StatefulSet or DaemonSet. */
const workload = z.object({
  kind: text,
  namespace: text,
  name: text,
  desired: count,
  ready: count,
  /** Pods of the current version of the workload. */
  updated: count,
});

const definition = z.object({
  name: text,
  isEstablished: z.boolean().optional(), // absent: there is no such definition
});

/** The rules that a ServiceAccount has by the roles of the installation. */
const permission = z.object({
  role: text,
  /** The permissions of the role that the ServiceAccount lacks. */
  missing: z.array(text),
});

/** A NetworkAttachmentDefinition that ipledger serves, or that is not readable. */
const network = z.object({
  /** "namespace/name" */
  key: text,
  /** The providers by its name and in its configuration, if ipledger serves it. */
  provider: text.optional(),
  configuredProvider: text.optional(),
  socket: text.optional(),
  /** Why the configuration cannot be used. */
  problem: text.optional(),
});

const subnet = z.object({
  name: text,
  provider: text,
  /** Conditions that need an operator. */
  conditions: z.array(z.object({ type: text, message: text })),
});

const lease = z.object({ name: text, holder: text.optional() });

/** The last backup of etcd that was scheduled, and the last that succeeded; "" for none. */
const backup = z.object({ scheduledAt: text, succeededAt: text, isSuspended: z.boolean() });

const storage = z.object({ usedBytes: count, quotaBytes: count, daysLeft: count.optional() });

const status = z.object({
  ledger: text,
  seq: count,
  ledgerTime: text,
  frozenBy: text.optional(),
  cannotWrite: z.object({ reason: text, message: text, since: text }).optional(),
  storage: storage.optional(),
});

const gap = z.object({
  part: text,
  reason: text,
  /** Waiting does not help: there is no kubeconfig, or a permission is missing. */
  isLasting: z.boolean().optional(),
});

const disagreement = z.object({ kind: text, where: text, what: text, remedy: text });

export const factsSchema = z.object({
  /** The version of this format. */
  format: z.literal(1),
  /** RFC 3339. */
  gatheredAt: text,
  /** Version of the command line that gathered them. */
  version: text,
  /** Where ipledger is installed. */
  namespace: text,
  /** What was not looked at, on request. */
  skipped: z.array(text),
  /** Parts that could not be read. */
  gaps: z.array(gap),
  status: status.optional(),
  /** Endpoints of allocators, and why one does not answer; "" if it does. */
  replicas: z.array(z.object({ endpoint: text, failure: text })).optional(),
  /**
   * Whether the writer signs checkpoints, and the time of the newest that Kubernetes keeps; "" for
   * none.
   */
  checkpoints: z.object({ isSigned: z.boolean(), newestAt: text.optional() }).optional(),
  comparison: z
    .object({ disagreements: z.array(disagreement), leftOut: count, pods: count, bindings: count })
    .optional(),
  /** Subnets with quarantined addresses, and their ranges, as "10.0.0.5,10.0.0.7-10.0.0.9". */
  quarantines: z.array(z.object({ subnet: text, count, range: text })).optional(),
  programs: z.array(program).optional(),
  pods: z.array(podProblem).optional(),
  /** The newest one of each object and reason, newest first. */
  warnings: z.array(warning).optional(),
  sandboxFailures: z.array(sandboxFailure).optional(),
  workloads: z.array(workload).optional(),
  definitions: z.array(definition).optional(),
  permissions: z.array(permission).optional(),
  networks: z.array(network).optional(),
  subnets: z.array(subnet).optional(),
  leases: z.array(lease).optional(),
  /** null: there is no such CronJob. */
  backup: backup.nullable().optional(),
});

export type Facts = z.infer<typeof factsSchema>;
export type Gap = z.infer<typeof gap>;
export type Program = z.infer<typeof program>;
export type PodProblem = z.infer<typeof podProblem>;
export type Warning = z.infer<typeof warning>;
export type SandboxFailure = z.infer<typeof sandboxFailure>;
export type Sample = z.infer<typeof sample>;
export type Workload = z.infer<typeof workload>;
export type Network = z.infer<typeof network>;
export type Permission = z.infer<typeof permission>;

/** The parts that `--skip` can leave out. */
export const parts = ['allocators', 'comparison', 'metrics', 'kubernetes'] as const;
export type Part = (typeof parts)[number];
