/**
 * Pending DELs: DELs that are saved because the agent or the allocator was unavailable. The runtime
 * gets success, so the Pod can be deleted. Each is a file `<container>@<interface>.json` that the
 * plugin or the agent writes. The agent that serves its socket replays it (pending-del-replay.ts).
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerInterface } from '../bindings/binding-files.ts';
import type { CniRequest } from '../daemon/plugin-request.ts';

const fileNameOf = ({ containerId, interface: name }: ContainerInterface): string => `${containerId}@${name}.json`;

/**
 * Saves a DEL. A repeated DEL replaces its own file.
 * @param socket one of the agent's sockets, which marks the file as this agent's
 * @throws the system's error
 */
export async function savePendingDel(folder: string, socket: string, request: CniRequest): Promise<void> {
  const { cniType, podName, podNamespace, containerId, netns, interface: name, provider, nfnNetwork } = request;
  if (/[/\0]|^\.\.?$/.test(containerId + name))
    throw new Error(`container ${containerId} ${name}: no file can have this name`);
  const wire = {
    cni_type: cniType,
    pod_name: podName,
    pod_namespace: podNamespace,
    container_id: containerId,
    net_ns: netns,
    if_name: name,
    provider,
    ...(nfnNetwork !== '' && { nfn_network: nfnNetwork }),
  };
  const path = join(folder, fileNameOf(request));
  const draft = `${path}.${process.pid}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(draft, JSON.stringify({ server_socket: socket, request: wire }), { mode: 0o600 });
  await rename(draft, path);
}

/** Whether the container has a pending DEL. */
export const hasPendingDel = (folder: string, container: ContainerInterface): boolean =>
  existsSync(join(folder, fileNameOf(container)));

/** Removes the container's pending DEL after a new ADD, whose binding that DEL must not end. */
export async function removePendingDel(folder: string, container: ContainerInterface): Promise<void> {
  if (hasPendingDel(folder, container)) await rm(join(folder, fileNameOf(container)), { force: true });
}
