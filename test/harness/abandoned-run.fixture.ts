/** A run that nobody ends: it says what it started and waits to be killed. */
import { startEtcd } from './etcd.ts';
import { createNode } from './network.ts';
import { openRun } from './run.ts';

const run = openRun();
const etcd = await startEtcd(run);
const node = process.getuid?.() === 0 ? await createNode(run, 'node') : undefined;
console.log(JSON.stringify({ pid: etcd.pid, folder: run.folder, namespace: node?.path }));
setInterval(() => undefined, 60_000);
