/** A suite about whole nodes: what stands before and behind each of its tests. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { logTail } from '../harness/launch.ts';
import { canRunNodes } from '../harness/node/ability.ts';
import { openRun, type Run } from '../harness/run.ts';
import { expectAgreement } from '../e2e/agreement.ts';
import { expectReality } from './reality.ts';
import { type NodeScene, openScene } from './scene.ts';

/** Starting a whole cluster, or the slowest of tests. */
const limitMs = 600_000;

/** A test of a suite on nodes. Behind it all must agree: ledger, Kubernetes objects, and the NICs that are really there. */
export type NodeTest = (title: string, work: (scene: NodeScene) => Promise<void>) => void;

/** A suite with two nodes and the network of their Pods; where there can be none it is skipped, and says why. */
export function describeOnNodes(title: string, suite: (test: NodeTest) => void): void {
  describe(title, function () {
    this.timeout(limitMs);
    let run: Run;
    let scene: NodeScene;
    before(async function () {
      const ability = await canRunNodes();
      if (!ability.able) {
        console.log(`      skipped, no nodes here: ${ability.reason}`);
        this.skip();
      }
      run = openRun();
      scene = await explained(run, () => openScene(run));
    });
    after(() => run?.end());
    suite((what, work) =>
      it(what, () =>
        explained(run, async () => {
          await work(scene);
          await expectAgreement(scene.stack);
          await expectReality(scene);
        }),
      ),
    );
  });
}

/** Does something; when it fails, what the servers said last is printed. */
async function explained<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    console.log(lastWords(run));
    throw error;
  }
}

function lastWords({ folder }: Run): string {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
  return logs.map((name) => `--- ${name}\n${logTail(join(folder, name))}`).join('\n');
}
