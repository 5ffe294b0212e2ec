/** `ipledger selftest`: attaches Pods on real nodes, and proves each step from the ledger. */
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { loadKubeconfig } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ownGroup } from '../../../lib/kubernetes/beside-kube-ovn.ts';
import { parseWholeNumber } from '../../../lib/process/options.ts';
import { asCalled } from '../../called-as.ts';
import { CliError, exitStatus } from '../../cli-error.ts';
import { connectOwnObjects } from '../../clients/kubernetes-client.ts';
import { type Answer, createTableAnswer, printAnswer } from '../../output/answer.ts';
import { textColumns } from '../../output/table.ts';
import { addVerbOptions, outputStyle, type VerbOptions, withAllocator } from '../../program/verb.ts';
import { findObstacle } from './preflight.ts';
import { findTestObjects, removeObjects } from './remove-objects.ts';
import { type Outcome, runAndRemove } from './run-and-remove.ts';
import { runSteps, type Step } from './run-selftest.ts';
import { selftestLabel, type TestPlan } from './test-objects.ts';
import { findUnfreeAddresses } from './unfree-addresses.ts';

interface SelftestOptions extends VerbOptions {
  readonly nodes?: readonly string[];
  readonly image?: string;
  readonly network?: string;
  readonly defaultNetwork: boolean;
  readonly master?: string;
  readonly cidr?: string;
  readonly socket: string;
  readonly timeout: number;
  readonly clean: boolean;
  readonly keep: boolean;
}

export function defineSelftest(verb: Command): void {
  addVerbOptions(verb)
    .option('--nodes <node...>', 'the nodes, one Pod on each')
    .option('--image <image>', 'the image of the Pods: it must not end by itself, and needs ping for the pings')
    .option('--network <namespace/name>', 'a NetworkAttachmentDefinition that exists, with its Subnet')
    .option('--default-network', 'with --network: it makes the main NIC of the Pods', false)
    .addOption(
      new Option('--master <interface>', 'make a macvlan network on this interface of the nodes').conflicts('network'),
    )
    .option('--cidr <cidr>', 'with --master: an unused range of that network')
    .option('--socket <path>', 'with --master: the socket of the agents', '/run/openvswitch/kube-ovn-daemon.sock')
    .addOption(
      new Option('--timeout <seconds>', 'the longest time for each step')
        .default(120)
        .argParser((text) => parseWholeNumber(text, 1, 9_999)),
    )
    .option('--keep', 'leave the objects, to look at them', false)
    .addOption(new Option('--clean', 'only remove what an earlier run left').default(false).conflicts('keep'))
    .addHelpText(
      'after',
      `
Makes a namespace, with --master a network and a Subnet, and a Pod on each node. It waits for the addresses, compares annotations and
IP objects, pings across nodes, deletes the Pods, and prints the events of the ledger. Before, it reviews your rights, the nodes and the
network. After a step that failed, it prints first what Kubernetes reports about the Pods. It removes all that it made, also after Ctrl-C,
and touches nothing else. An address that no other Pod gets yet is named.

Exit status:
  0  all steps passed, or were not possible
  ${exitStatus.disagreement}  a step failed`,
    )
    .action(async (options: SelftestOptions) =>
      withAllocator(options, async (allocator, signal) => {
        // It removes what this run made, also after Ctrl-C
        const kubernetes = await connectOwnObjects(new AbortController().signal, options);
        if (options.clean) {
          clean(await removeObjects(kubernetes, selftestLabel));
          return;
        }
        const plan = planOf(options, kubernetes.besideKubeOvn);
        const found = await findTestObjects(kubernetes, selftestLabel);
        if (found.length > 0)
          throw new CliError(
            'refused',
            `an earlier run left ${found.map(({ title }) => title).join(', ')}. Run: ipledger selftest --clean`,
          );
        const obstacle = await findObstacle(plan, { allocator, kubernetes });
        if (obstacle !== '') throw new CliError('refused', `${obstacle}. Nothing was made`);
        const config = await loadKubeconfig(options);
        const sources = { allocator, kubernetes, config, timeoutMs: options.timeout * 1_000, signal };
        const report = (text: string): void => void process.stderr.write(`${asCalled(text)}\n`);
        const show = (step: Step): void => {
          if (process.stderr.isTTY) report(`${step.result}: ${step.step}`);
        };
        const run = (): Promise<Step[]> => runSteps(plan, sources, show);
        const outcome = await runAndRemove(plan, run, { kubernetes, keep: options.keep, report });
        const { steps } = outcome;
        if (steps.some(({ result }) => result === 'failed')) process.exitCode = exitStatus.disagreement;
        const unfree = options.keep ? [] : await findUnfreeAddresses(plan, allocator);
        await printAnswer(outputStyle(options), createReport(plan, outcome, unfree));
      }),
    );
}

function clean(left: readonly string[]): void {
  if (left.length > 0) throw new CliError('refused', `${left.join(', ')} still exists: see its finalizers`);
  process.stdout.write('nothing of an earlier selftest is left\n');
}

const maxNodes = 100;

function planOf(options: SelftestOptions, besideKubeOvn: boolean): TestPlan {
  const { nodes = [], image, network, master, cidr, socket, defaultNetwork } = options;
  if (nodes.length === 0 || nodes.length > maxNodes || image === undefined)
    throw new CliError('usage', `name the nodes with --nodes, at most ${maxNodes}, and an image with --image`);
  const chosen = network ?? (master !== undefined && cidr !== undefined ? { master, cidr, socket } : undefined);
  if (chosen === undefined || (typeof chosen === 'string' && !/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(chosen)))
    throw new CliError(
      'usage',
      'name a network with --network NAMESPACE/NAME, or an interface and a range with --master and --cidr',
    );
  return {
    id: randomBytes(4).toString('hex'),
    nodes,
    image,
    network: chosen,
    isDefaultNetwork: defaultNetwork,
    group: besideKubeOvn ? ownGroup : 'kubeovn.io',
  };
}

/** The reasons of a failure come first. */
export function createReport(plan: TestPlan, { reasons, steps }: Outcome, unfree: readonly string[]): Answer {
  const rows = [
    ...reasons.map(({ where, what }) => ['reason', where, what]),
    ...steps.map(({ step, result, detail }) => [result, step, asCalled(detail)]),
  ];
  const listing = { columns: textColumns('RESULT', 'STEP', 'DETAIL'), rows };
  const content = { id: plan.id, nodes: plan.nodes, reasons, steps, unfree };
  return createTableAnswer(listing, { content, note: unfree.join('\n') });
}
