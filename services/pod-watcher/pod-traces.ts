/**
 * The traces of Pods that this watcher saw before they had addresses. The root span `pod` begins
 * then, and ends when the annotations show the addresses. Writes of the projection join the trace
 * of their Pod here, because stored events contain no trace.
 */
import { allocationAttributes, podAttributes, type Span } from '../../lib/tracing/span.ts';
import type { TraceContext } from '../../lib/tracing/trace-context.ts';
import type { Tracer } from '../../lib/tracing/tracer.ts';
import type { Informer, ObjectChange } from '../../lib/kubernetes/client/informer.ts';
import { isLauncher } from './kubernetes/launcher-verifier.ts';
import { hasAllocatedAnnotation, type Pod } from './kubernetes/objects/pod.ts';
import type { HeldAllocation } from './ledger/ledger-events.ts';

/** The number of traces. The oldest is removed first; later writes have no spans. */
const maxPods = 4_096;

interface PodTrace {
  readonly context: TraceContext;
  readonly seenAtMs: number;
  /** The root span, which the first request for addresses starts: most Pods need none. */
  root: Span | undefined;
}

export class PodTraces {
  readonly #tracer: Tracer;
  readonly #byUid = new Map<string, PodTrace>();

  constructor(tracer: Tracer, pods: Pick<Informer<Pod>, 'subscribe'>) {
    this.#tracer = tracer;
    pods.subscribe((change) => this.#onPod(change));
  }

  /** Starts the span of a request for addresses; undefined if the Pod is not traced. */
  startRequest(pod: Pod): Span | undefined {
    const trace = this.#byUid.get(pod.uid);
    if (!trace) return undefined;
    const attributes = podAttributes({ ...pod, uid: containerUid(pod) });
    trace.root ??= this.#tracer.startRoot('pod', trace.context, { startMs: trace.seenAtMs, attributes });
    return trace.root.child('request addresses', { kind: 'client' });
  }

  /** Starts the span of a write for a traced Pod with addresses; otherwise returns undefined. */
  startWrite(pod: Pod | undefined, name: string, allocations: readonly HeldAllocation[]): Span | undefined {
    const root = pod && this.#byUid.get(pod.uid)?.root;
    return root?.child(name, { kind: 'client', attributes: allocationAttributes(allocations) });
  }

  /** Ends the root span when the annotations show these allocations. */
  onAnnotated(pod: Pod, allocations: readonly HeldAllocation[]): void {
    const root = this.#byUid.get(pod.uid)?.root;
    if (!root || allocations.length === 0) return;
    root.set(allocationAttributes(allocations));
    root.end();
  }

  #onPod(change: ObjectChange<Pod>): void {
    if (change.kind === 'listed') return;
    const { object } = change;
    if (change.kind === 'gone') this.#remove(object.uid, 'POD_DELETED');
    else if (!change.before && awaitsAddresses(object)) this.#add(object);
  }

  #add(pod: Pod): void {
    const context = this.#tracer.podTrace(containerUid(pod));
    if (!context || this.#byUid.has(pod.uid)) return;
    this.#byUid.set(pod.uid, { context, seenAtMs: Date.now(), root: undefined });
    const [oldest] = this.#byUid.keys();
    if (this.#byUid.size > maxPods && oldest !== undefined) this.#remove(oldest, 'TOO_MANY_PODS');
  }

  #remove(uid: string, error: string): void {
    this.#byUid.get(uid)?.root?.end(error);
    this.#byUid.delete(uid);
  }
}

/** Returns the uid that the container runtime has: a launcher's own, and a static Pod's hash. */
const containerUid = (pod: Pod): string => (isLauncher(pod) ? pod.uid : pod.ledgerUid);

const awaitsAddresses = (pod: Pod): boolean =>
  pod.phase === 'Pending' && pod.deletionTimestamp === '' && !hasAllocatedAnnotation(pod.annotations);
