// Replaces the data of an etcd member with restored data. Keeps the earlier data in the same folder. Each step can be repeated.
//   node swap-data.mjs prepare FOLDER HOST   removes the rest of an interrupted run; fails while etcd runs on HOST
//   node swap-data.mjs replace FOLDER
import { existsSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

const clientPort = 2379;
const [step, folder, host] = process.argv.slice(2);
const data = join(folder, 'etcd');
const restored = join(folder, 'etcd-restored');
const backup = join(folder, 'backup.db');

const isListening = () =>
  new Promise((resolve) => {
    const probe = connect({ host, port: clientPort, timeout: 5_000 });
    const end = (found) => () => {
      probe.destroy();
      resolve(found);
    };
    probe.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });

if (step === 'prepare') {
  if (await isListening()) {
    console.error(
      `etcd still runs on ${host}: stop it first, with kubectl scale statefulset ipledger-etcd --replicas=0`,
    );
    process.exit(1);
  }
  rmSync(restored, { recursive: true, force: true });
  rmSync(backup, { force: true });
} else if (existsSync(restored)) {
  if (existsSync(data)) {
    const earlier = `${data}-before-${new Date().toISOString().replaceAll(':', '-')}`;
    renameSync(data, earlier);
    console.log(`the earlier data is in ${earlier}`);
  }
  renameSync(restored, data);
  rmSync(backup, { force: true });
  console.log(`the restored data is in ${data}`);
}
