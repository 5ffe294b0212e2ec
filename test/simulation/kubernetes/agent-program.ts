/**
 * The node agent as a program of the simulation: its own parts, without sockets and Open vSwitch.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Connection } from '../../../lib/grpc/calls.ts';
import { pause } from '../../../lib/process/abortable.ts';
import { parsePluginRequest, type Verb } from '../../../services/node-agent/daemon/plugin-request.ts';
import { LedgerEpoch } from '../../../services/node-agent/bindings/ledger-epoch.ts';
import { openBindingParts } from '../../../services/node-agent/binding-parts.ts';
import { createObjectReader, type KubernetesGet } from '../../../services/node-agent/kubernetes/object-reader.ts';
import { createKeyedMutex } from '../../../services/node-agent/concurrency/keyed-mutex.ts';
import type { Program } from '../kernel/program.ts';
import { simulatedApi } from './simulated-api.ts';
import type { SimulatedApiServer } from './simulated-api-server.ts';
import type { SimulatedNode } from './node.ts';
import { checkFilesAtStart } from './node-files.ts';
import { silentLog } from '../kernel/silent-log.ts';

export interface AgentEnvironment {
  readonly server: SimulatedApiServer;
  readonly connect: (from: Program) => Connection;
}

export const socketOf = ({ folder }: SimulatedNode): string => `${folder}/agent.sock`;

/** Starts the agent of a node. The MACs that it sets are in `macs`, by namespace and interface. */
export function startAgent(
  node: SimulatedNode,
  macs: Map<string, string>,
  { server, connect }: AgentEnvironment,
): void {
  const sandboxes = node.world.random(`sandboxes of ${node.name} ${node.boot}`);
  const never = new AbortController().signal;
  const epoch = new LedgerEpoch();
  const main = async (): Promise<void> => {
    const api = simulatedApi(program, server);
    const get: KubernetesGet = (path, options) => api.request({ method: 'GET', path, ...options });
    const parts = await openBindingParts({
      node: node.name,
      bootId: node.bootId,
      bindings: node.bindingFiles,
      pendingDels: node.pendingDelFiles,
      sockets: [socketOf(node)],
      connection: connect(program),
      epoch,
      get,
      read: createObjectReader(get),
      runExclusive: createKeyedMutex(),
      probe: async (target) => {
        await pause(500, never);
        return node.foreignHosts.answer(target);
      },
      sandbox: {
        prepare: async ({ netns, interface: name, mac }) => {
          await pause(sandboxes.nextInt(20), never);
          if (sandboxes.nextBoolean(node.world.faults.network.lose))
            throw new IpledgerError('SANDBOX_FAILED', 'the command on the link timed out');
          macs.set(`${netns} ${name}`, mac);
        },
      },
      log: silentLog,
    });
    checkFilesAtStart(node);
    node.handler = parts.handleRequest;
    await parts.run(never);
  };
  const program = node.machine.start(`agent ${node.name}`, main);
  node.agent = program;
  node.epoch = epoch;
  node.handler = undefined;
}

/** The agent cannot be reached, or ended before it answered. */
export class NoAgent extends Error {
  override readonly name = 'NoAgent';
}

/**
 * Calls the agent over its socket. @throws IpledgerError of the agent; NoAgent
 * @param signal aborted when the plugin times out: it disconnects
 */
export function callAgent(
  from: Program,
  node: SimulatedNode,
  { verb, body }: { readonly verb: Verb; readonly body: string },
  signal: AbortSignal,
): Promise<string> {
  const { agent, handler, world } = node;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const later = (act: () => void): void => void world.after(0.2, act, from, 'plugin');
  if (!agent?.isAlive || !handler) {
    later(() => reject(new NoAgent('connection refused')));
    return promise;
  }
  const lost = (): void => later(() => reject(new NoAgent('connection reset')));
  agent.ended.addEventListener('abort', lost);
  signal.addEventListener('abort', () => later(() => reject(new NoAgent('timeout'))));
  // The plugin ends with its runtime, which closes its connection. An agent that has ended sees
  // none of it
  const connection = new AbortController();
  const close = (): void => void world.after(0, () => connection.abort(), agent, 'socket');
  for (const each of [signal, from.ended]) each.addEventListener('abort', close);
  const handle = async (): Promise<string> => handler(parsePluginRequest(verb, body), connection.signal);
  const serve = async (): Promise<void> => {
    try {
      const reply = await handle();
      if (agent.isAlive) later(() => resolve(reply));
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      if (error.kind === 'bug') world.fail('bug', `${verb} on ${node.name} fails in the agent: ${error.message}`);
      if (agent.isAlive) later(() => reject(error));
    }
  };
  world.after(0.2, () => void serve(), agent, 'socket');
  return promise;
}
