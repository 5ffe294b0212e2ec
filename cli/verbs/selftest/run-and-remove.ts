/** Runs a selftest, reads why a step failed, and removes what the steps made. */
import { errorMessage } from '../../../lib/errors.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { type Reason, readReasons } from './read-reasons.ts';
import { findTestObjects, removeObjects } from './remove-objects.ts';
import type { Step } from './run-selftest.ts';
import { namespaceOf, selftestLabel, type TestPlan } from './test-objects.ts';

export interface Outcome {
  /** Why a step failed, in the words of Kubernetes. Empty if none failed. */
  readonly reasons: readonly Reason[];
  readonly steps: readonly Step[];
}

export interface Cleanup {
  readonly kubernetes: KubernetesClient;
  /** Whether the objects stay. */
  readonly keep: boolean;
  /** Gets what is left after an error, which leaves no steps to print. */
  readonly report: (text: string) => void;
}

const removalStep = 'all that it made is removed';
const cleanCommand = 'Run: ipledger selftest --clean';

/** What the steps made is removed also after an error, or after Ctrl-C. */
export async function runAndRemove(
  plan: TestPlan,
  run: () => Promise<readonly Step[]>,
  { kubernetes, keep, report }: Cleanup,
): Promise<Outcome> {
  const end = async (): Promise<Step> => {
    const step = removalStep;
    const selector = `${selftestLabel}=${plan.id}`;
    if (keep) {
      const kept = (await findTestObjects(kubernetes, selector)).map(({ title }) => title);
      return { step, result: 'skipped', detail: `kept: ${kept.join(', ') || 'nothing'}. ${cleanCommand}` };
    }
    const left = await removeObjects(kubernetes, selector);
    if (left.length === 0) return { step, result: 'passed', detail: '' };
    return { step, result: 'failed', detail: `left: ${left.join(', ')}. ${cleanCommand}` };
  };
  let steps: readonly Step[];
  try {
    steps = await run();
  } catch (error) {
    const { result, detail } = await end().catch((failure: unknown) => ({
      result: 'failed',
      detail: `left: perhaps namespace ${namespaceOf(plan)} (${errorMessage(failure)}). ${cleanCommand}`,
    }));
    if (result !== 'passed') report(detail);
    throw error;
  }
  const reasons = steps.some(({ result }) => result === 'failed') ? await readReasons(plan, kubernetes) : [];
  const last = await end().catch((error: unknown) => ({
    step: removalStep,
    result: 'failed' as const,
    detail: errorMessage(error),
  }));
  return { reasons, steps: [...steps, last] };
}
