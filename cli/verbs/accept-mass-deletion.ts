/** `ipledger accept-mass-deletion`: ends a halt of releases after a real mass deletion. */
import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import {
  acceptanceAnnotation,
  addAcceptance,
  acceptanceLimits,
  haltedMassDeletions,
  type MassDeletionAcceptance,
} from '../../lib/kubernetes/mass-deletion-acceptance.ts';
import { asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import { connectKubernetes } from '../clients/kubernetes-client.ts';
import { podWatcherLease, podWatcherLeasePath } from '../../lib/kubernetes/lease-observer.ts';
import { type Answer, createTableAnswer } from '../output/answer.ts';
import { textColumns } from '../output/table.ts';
import { CliError } from '../cli-error.ts';
import { confirm } from '../program/operation-verb.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

interface AcceptOptions extends VerbOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly yes: boolean;
}

export function defineAcceptMassDeletion(verb: Command): void {
  addVerbOptions(verb)
    .requiredOption('--reason <text>', 'why; the releases record it', parseReason)
    .option('--namespace <name>', "the namespace of the pod-watcher's Lease", 'kube-system')
    .option('-y, --yes', 'do not request confirmation', false)
    .addHelpText(
      'after',
      `
Changes an annotation of the Lease ${podWatcherLease}, which the active pod-watcher reads within seconds; needs no allocator. Without
an argument it accepts all that is halted: Pods of all namespaces, and Nodes. It accepts at most as many missing objects as it shows:
if more are missing later, releases halt again. Each missing Pod is looked up before its addresses are released.`,
    )
    .action((scopes: string[], { ...options }: AcceptOptions) =>
      runAndPrint(options, (_allocator, signal) => acceptMassDeletion(scopes, options, signal)),
    );
}

function parseReason(reason: string): string {
  if (reason.trim() === '') throw new InvalidArgumentError('It is blank.');
  if (reason.length > acceptanceLimits.reasonLength)
    throw new InvalidArgumentError(`It has more than ${acceptanceLimits.reasonLength} characters.`);
  return reason;
}

async function acceptMassDeletion(
  namespaces: readonly string[],
  { namespace, reason, yes, ...options }: AcceptOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const kubernetes = await connectKubernetes(signal, options);
  const path = podWatcherLeasePath(namespace);
  const lease = await kubernetes.get(path);
  if (!lease)
    throw new CliError(
      'refused',
      `there is no Lease ${namespace}/${podWatcherLease}: set --namespace to that of the pod-watcher (of the chart: ipledger-system)`,
    );
  const halted = haltedMassDeletions(lease);
  if (rowsOf(halted).length === 0) throw new CliError('refused', 'no release is halted: nothing was changed');
  const accepted = namespaces.length === 0 ? halted : { pods: select(halted.pods, namespaces), nodes: 0 };
  const rows = rowsOf(accepted);
  const lines = rows.map(([scope, missing]) => `${missing} missing ${scope} will count as deleted`);
  await confirm({ lines, question: 'Were these really deleted?', yes }, signal);
  const acceptance: MassDeletionAcceptance = { id: randomUUID(), ...accepted, reason };
  const uid = asText(asRecord(lease['metadata'])['uid']);
  const annotations = { [acceptanceAnnotation]: JSON.stringify(addAcceptance(lease, acceptance)) };
  await kubernetes.patch(path, { metadata: { uid, annotations } });
  return createTableAnswer(
    { columns: textColumns('ACCEPTED', 'MISSING'), rows },
    {
      content: acceptance,
      note: 'the active pod-watcher applies it within seconds: its log shows it, and /readyz is ok again. The releases follow within a minute',
    },
  );
}

/** @throws CliError for a namespace that is not halted by itself */
function select(pods: Readonly<Record<string, number>>, namespaces: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    namespaces.map((name) => {
      const missing = pods[name];
      if (name === '*' || missing === undefined)
        throw new CliError(
          'refused',
          `namespace ${name} is not halted by itself: run the command without namespaces to accept all that is missing`,
        );
      return [name, missing];
    }),
  );
}

function rowsOf({ pods, nodes }: Pick<MassDeletionAcceptance, 'pods' | 'nodes'>): string[][] {
  const scopes = Object.entries(pods).map(([scope, missing]) => [
    scope === '*' ? 'Pods of all namespaces' : `Pods of namespace ${scope}`,
    String(missing),
  ]);
  return nodes > 0 ? [...scopes, ['Nodes', String(nodes)]] : scopes;
}
