/** Applies an accepted mass deletion (mass-deletion-acceptance.ts) to the controllers, once. */
import {
  acceptanceAnnotation,
  type MassDeletionAcceptance,
  parseAcceptance,
} from '../../lib/kubernetes/mass-deletion-acceptance.ts';
import { asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { NodeController } from './controllers/nodes/node-controller.ts';
import type { PodEvent } from './kubernetes/event-recorder.ts';
import type { PodController } from './controllers/pods/pod-controller.ts';

export interface AcceptedDeletionsOptions {
  readonly podController: Pick<PodController, 'acceptMassDeletion' | 'accepted'>;
  readonly nodeController: Pick<NodeController, 'acceptMassDeletion' | 'isAccepted'>;
  /** The id of the last acceptance that was over while an earlier watcher ran. */
  readonly usedBefore: string;
  /** Records a Kubernetes Event about the Lease. */
  readonly recordLeaseEvent: (event: PodEvent) => void;
  readonly log: Logger;
}

export class AcceptedDeletions {
  readonly #options: AcceptedDeletionsOptions;
  #current: MassDeletionAcceptance | undefined;
  /** The acceptance whose end has been reported. */
  #ended: MassDeletionAcceptance | undefined;

  constructor(options: AcceptedDeletionsOptions) {
    this.#options = options;
  }

  /** The id of the last acceptance that is over. The next watcher applies later ones again. */
  get used(): string {
    return this.#current && this.#isOver ? this.#current.id : this.#options.usedBefore;
  }

  get #isOver(): boolean {
    const { podController, nodeController } = this.#options;
    return podController.accepted.length === 0 && !nodeController.isAccepted;
  }

  /** Reads the annotations of the Lease. Called at each renewal. */
  read(annotations: UntypedJson): void {
    const { podController, nodeController, usedBefore, log } = this.#options;
    this.#reportEnd();
    const accepted = parseAcceptance(asText(annotations[acceptanceAnnotation]));
    if (!accepted || accepted.id === usedBefore || accepted.id === this.#current?.id) return;
    this.#current = accepted;
    const { pods, nodes, reason } = accepted;
    log.warn({ pods, nodes, reason }, 'an operator accepted a mass deletion');
    podController.acceptMassDeletion(pods, reason);
    nodeController.acceptMassDeletion(nodes);
  }

  #reportEnd(): void {
    const { recordLeaseEvent, log } = this.#options;
    if (!this.#current || this.#ended === this.#current || !this.#isOver) return;
    this.#ended = this.#current;
    const { pods, nodes, reason } = this.#current;
    log.warn({ pods, nodes, reason }, 'the accepted mass deletion is over');
    const message = `the accepted mass deletion is over, and a next one halts releases again: ${reason}`;
    recordLeaseEvent({ type: 'Normal', reason: 'AcceptedMassDeletionEnded', message });
  }
}
