/** `ipledger with-etcd COMMAND`: runs a command with access to the etcd that the chart runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { delimiter } from 'node:path';
import type { Command } from 'commander';
import { errorMessage } from '../../lib/errors.ts';
import { type ClusterEtcd, openClusterEtcd } from '../clients/cluster-etcd.ts';
import { CliError } from '../cli-error.ts';

interface Options {
  readonly namespace: string;
  readonly secret?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function defineWithEtcd(verb: Command): void {
  verb
    .passThroughOptions()
    .option('--namespace <name>', 'the namespace of ipledger', 'ipledger-system')
    .option(
      '--secret <name>',
      'Secret with the certificate of another user of etcd; default: the auditor, who only reads',
    )
    .option('--kubeconfig <file>', 'kubeconfig instead of KUBECONFIG')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText(
      'after',
      `
Forwards ports of etcd's members and sets the variables of etcdctl (ETCDCTL_…) and of ipledger (IPLEDGER_ETCD…) for COMMAND:
  ipledger with-etcd etcdctl get --prefix /ipledger/v1/head
  ipledger with-etcd ipledger verify
  ipledger with-etcd sh
The exit status is that of COMMAND. The options of with-etcd come before COMMAND.`,
    )
    .action(async (command: string[], options: Options) => {
      using etcd = await openClusterEtcd(options, new AbortController().signal);
      process.exitCode = await runWith(etcd, command);
      const failure = etcd.failure();
      if (process.exitCode !== 0 && failure !== undefined) throw new CliError('unreachable', failure);
    });
}

async function runWith(etcd: ClusterEtcd, [program = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...environment(etcd) } });
  // Ctrl-C reaches the command, too: it decides whether it ends
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore).on('SIGTERM', forward);
  try {
    return await exitOf(child, program);
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', forward);
  }
}

/** Returns the exit status as a shell does: 128 and the number of a signal. */
async function exitOf(child: ChildProcess, program: string): Promise<number> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } catch (error) {
    throw new CliError('usage', `cannot run ${program}: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** The environment of the command, without the access that this process has to another etcd. */
function environment({ endpoints, files }: ClusterEtcd): NodeJS.ProcessEnv {
  const launcher = process.env['IPLEDGER_LAUNCHER_FOLDER'];
  return {
    ...(launcher !== undefined && { PATH: `${launcher}${delimiter}${process.env['PATH'] ?? ''}` }),
    IPLEDGER_CALLED_AS: undefined, // `ipledger` is on the PATH of the command
    IPLEDGER_ETCD: endpoints,
    IPLEDGER_ETCD_CA: files?.ca,
    IPLEDGER_ETCD_CERT: files?.cert,
    IPLEDGER_ETCD_KEY: files?.key,
    IPLEDGER_ETCD_USER: undefined,
    IPLEDGER_ETCD_PASSWORD_FILE: undefined,
    ETCDCTL_ENDPOINTS: endpoints,
    ETCDCTL_CACERT: files?.ca,
    ETCDCTL_CERT: files?.cert,
    ETCDCTL_KEY: files?.key,
    ETCDCTL_USER: undefined,
    ETCDCTL_PASSWORD: undefined,
  };
}
