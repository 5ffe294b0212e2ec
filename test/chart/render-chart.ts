/** Renders the Helm chart, and finds objects in the result. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../harness/paths.ts';
import { type CommandResult, runCommand } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';

export const chartFolder = join(root, 'deploy', 'chart');

/** The namespace of the rendered manifests in deploy/single and deploy/ha. */
export const namespace = 'ipledger-system';

/** The folders with rendered manifests, below deploy/. */
export const renderedFolders = ['single', 'ha'] as const;

/** Applies the CustomResourceDefinitions of deploy/crds, because kubectl runs no hooks. */
export const withoutHooks = ['--no-hooks'] as const;

/** A Kubernetes object, as far as the checks read it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly verbs?: readonly string[];
  }[];
  readonly subjects?: readonly { readonly name: string; readonly namespace: string }[];
  readonly spec?: WorkloadSpec & {
    readonly jobTemplate?: { readonly spec: WorkloadSpec };
  };
}

interface WorkloadSpec {
  readonly template?: { readonly spec: PodSpec };
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly hostNetwork?: boolean;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

export interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly terminationMessagePolicy?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext?: {
    readonly readOnlyRootFilesystem?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: { readonly requests?: object; readonly limits?: object };
  readonly volumeMounts?: readonly { readonly mountPath: string; readonly mountPropagation?: string }[];
}

interface Probe {
  readonly httpGet?: { readonly host?: string };
}

/** The versions of Helm: 4 and 3. */
export const helmPrograms = ['helm', 'helm3'] as const;
export type HelmProgram = (typeof helmPrograms)[number];

/** Runs helm with a home folder of its own, so that it reads no settings of the user. */
export async function runHelm(args: readonly string[], program: HelmProgram = 'helm'): Promise<CommandResult> {
  const home = mkdtempSync(join(tmpdir(), 'ipledger-helm-'));
  try {
    mkdirSync(join(home, 'cache'));
    const env = {
      PATH: process.env['PATH'],
      HOME: home,
      KUBECONFIG: join(home, 'none'),
      HELM_CACHE_HOME: join(home, 'cache'),
    };
    return await runCommand(await findProgram(program), args, { env, timeoutMs: 120_000 });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Values without an archive: the chart has no default for it. */
export const withoutArchive = join(root, 'test/chart/without-archive.yaml');

/**
 * Runs `helm template`, by default without an archive. `settings` are further arguments, as
 * `--set=a=b`.
 */
export const template = (
  files: readonly string[],
  settings: readonly string[] = [],
  program?: HelmProgram,
): Promise<CommandResult> => {
  const values = [withoutArchive, ...files].map((file) => `--values=${file}`);
  const release = ['ipledger', chartFolder, `--namespace=${namespace}`, '--kube-version=1.36.0'];
  return runHelm(['template', ...release, ...values, ...settings], program);
};

/** Returns the rendered text. @throws Error with helm's message */
export async function renderChart(files: readonly string[], settings: readonly string[] = []): Promise<string> {
  const { code, stdout, stderr } = await template(files, settings);
  if (code !== 0) throw new Error(`helm template ${files.join(' ')}: ${stderr}`);
  return stdout;
}

/** @throws Error if the text is not valid YAML */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return (document.toJS() as Manifest | null) ?? [];
  });
}

/** The Pod that a workload runs; undefined for other objects. */
export const podSpecOf = ({ spec }: Manifest): PodSpec | undefined =>
  (spec?.jobTemplate?.spec.template ?? spec?.template)?.spec;

export const containersOf = ({ containers, initContainers = [] }: PodSpec): readonly Container[] => [
  ...initContainers,
  ...containers,
];
