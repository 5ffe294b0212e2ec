/**
 * Functions that cases ask for and that no part has yet, by the names under which they are looked for: the cases run as soon as there
 * is one. What stands here and exists is to be imported plainly instead.
 */
import * as subnet from '../../services/allocator/domain/subnet.ts';
import type { RequestedSubnet } from '../../services/allocator/domain/command.ts';
import * as objects from '../../services/pod-watcher/kubernetes/objects.ts';

const lookUp = (module: object, name: string): unknown => (module as Record<string, unknown>)[name];

/** services/allocator/domain/subnet.ts: a spec as it is normalised, before any rule judges it. @throws Error for one that cannot be read */
export const formatSubnet = lookUp(subnet, 'formatSubnet') as
  ((requested: RequestedSubnet) => { readonly gateway: string }) | undefined;

/** services/pod-watcher/kubernetes/objects.ts: whether annotations show that some attachment has its address. */
export const hasAllocatedAnnotation = lookUp(objects, 'hasAllocatedAnnotation') as
  ((annotations: Readonly<Record<string, string>>) => boolean) | undefined;
