/** Mistakes in the node agent: its answers to ADD, DEL and GC, and the files that it keeps. */
import type { PlantedBug } from '../planted-bug.ts';

const requests = ['services/node-agent/requests/*.unit.spec.ts'];
const bindings = ['services/node-agent/bindings/*.unit.spec.ts', ...requests];

export const agentBugs: readonly PlantedBug[] = [
  {
    name: 'DEL leaves the binding file',
    file: 'services/node-agent/requests/del.ts',
    from: '    await files.remove(request);\n',
    to: '',
    specs: requests,
  },
  {
    name: 'DEL removes the binding file before the binding has ended',
    file: 'services/node-agent/requests/del.ts',
    from: '    await endBinding(allocator,',
    to: '    await files.remove(request);\n    await endBinding(allocator,',
    specs: requests,
  },
  {
    name: 'DEL ends the binding of the container itself, not the one that serves it',
    file: 'services/node-agent/requests/del.ts',
    from: 'containerId: saved?.boundAs || request.containerId',
    to: 'containerId: request.containerId',
    specs: requests,
  },
  {
    name: 'DEL succeeds although its NIC was not removed',
    file: 'services/node-agent/requests/del.ts',
    from: "  for (const outcome of detached) if (outcome.status === 'rejected') throw outcome.reason;\n",
    to: '',
    specs: requests,
  },
  {
    name: 'a new ADD leaves the pending DEL, whose replay ends the new binding',
    file: 'services/node-agent/requests/request-handler.ts',
    from: '  deps.earlierBoots.exclude(request);\n  await removePendingDel(deps.pendingDels.folder, request);',
    to: '  deps.earlierBoots.exclude(request);',
    specs: requests,
  },
  {
    name: 'the sweep of earlier boots ends a new binding',
    file: 'services/node-agent/requests/request-handler.ts',
    from: '  deps.earlierBoots.exclude(request);\n',
    to: '',
    specs: requests,
  },
  {
    name: 'a DEL that can never succeed is saved, and succeeds',
    file: 'services/node-agent/requests/request-handler.ts',
    from: "if (IpledgerError.from(error).kind !== 'transient' || signal.aborted) throw error;",
    to: 'if (signal.aborted) throw error;',
    specs: requests,
  },
  {
    name: 'a DEL runs beside the ADD of its container',
    file: 'services/node-agent/requests/request-handler.ts',
    from: 'await deps.runExclusive(interfaceKey(request), signal, () => handleDel(deps, request, signal));',
    to: 'await handleDel(deps, request, signal);',
    specs: requests,
  },
  {
    name: 'a pending DEL is removed before it is done',
    file: 'services/node-agent/requests/pending-del-replay.ts',
    from: '    await del(pending.request, () => existsSync(path), signal);\n    await rm(path, { force: true });',
    to: '    await rm(path, { force: true });\n    await del(pending.request, () => existsSync(path), signal);',
    specs: requests,
  },
  {
    name: 'a pending DEL of another agent is done',
    file: 'services/node-agent/requests/pending-del-replay.ts',
    from: 'if (!sockets.some((ours) => resolve(ours) === resolve(socket)))',
    to: "if (socket === '')",
    specs: requests,
  },
  {
    name: 'the bindings of the present boot end with those of earlier ones',
    file: 'services/node-agent/bindings/earlier-boots.ts',
    from: 'binding.bootId !== bootId)',
    to: "binding.bootId !== '')",
    specs: bindings,
  },
  {
    name: 'an ADD during the list of earlier boots is missed',
    file: 'services/node-agent/bindings/earlier-boots.ts',
    from: 'const isStale = (container: ContainerInterface): boolean => !boundSince.has(interfaceKey(container));',
    to: 'const isStale = (): boolean => boundSince !== undefined;',
    specs: bindings,
  },
  {
    name: 'binding files of an earlier boot are trusted',
    file: 'services/node-agent/bindings/binding-files.ts',
    from: 'if (binding.bootId === bootId) bindings.set(',
    to: 'if (binding.bootId !== undefined) bindings.set(',
    specs: bindings,
  },
  {
    name: 'binding files of another node are trusted',
    file: 'services/node-agent/bindings/binding-files.ts',
    from: 'if (!binding || binding.node !== node) continue;',
    to: 'if (!binding) continue;',
    specs: bindings,
  },
  {
    name: 'an ADD whose caller has left keeps its binding',
    file: 'services/node-agent/bindings/binding-client.ts',
    from: "return outcome === 'unknown' || (outcome === 'refused' && error.code === 'UNAVAILABLE');",
    to: "return outcome === 'refused' && error.code === 'UNAVAILABLE';",
    specs: bindings,
  },
];
