/** The tasks that threads of the allocator run. */
import { diffTask } from './grpc/point-in-time/diff.ts';
import { stateAtTask } from './grpc/point-in-time/state-at.ts';
import type { Task } from './threads/task.ts';
import { verifyTask } from './threads/verify-task.ts';
import { prepareSegmentTask } from './writer-tasks/prepare-segment-task.ts';

export const tasks: readonly Task<never, unknown>[] = [stateAtTask, diffTask, verifyTask, prepareSegmentTask];
