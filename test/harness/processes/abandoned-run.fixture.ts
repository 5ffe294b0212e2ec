/** A run without `end()`: prints the names of its parts and waits for SIGKILL. */
import { startEtcd } from '../etcd.ts';
import { createNodeNamespace } from '../network/network-namespaces.ts';
import { openRun } from '../run.ts';

const run = openRun();
const etcd = await startEtcd(run);
const node = process.getuid?.() === 0 ? await createNodeNamespace(run, 'node') : undefined;
console.log(JSON.stringify({ pid: etcd.pid, folder: run.folder, namespace: node?.path }));
setInterval(() => undefined, 60_000);
