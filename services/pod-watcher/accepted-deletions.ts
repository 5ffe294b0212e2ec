/** Applies what an operator accepted as a mass deletion (mass-deletion-acceptance.ts) to the controllers, once. */
import {
  acceptanceAnnotation,
  type MassDeletionAcceptance,
  parseAcceptance,
} from '../../lib/kubernetes/mass-deletion-acceptance.ts';
import { asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { NodeController } from './controllers/nodes/node-controller.ts';
import type { PodController } from './controllers/pods/pod-controller.ts';

export interface AcceptedDeletionsOptions {
  readonly podController: Pick<PodController, 'acceptMassDeletion' | 'accepted'>;
  readonly nodeController: Pick<NodeController, 'acceptMassDeletion' | 'isAccepted'>;
  /** The id of the last acceptance that was over when an earlier watcher ran. */
  readonly usedBefore: string;
  readonly log: Logger;
}

export class AcceptedDeletions {
  readonly #options: AcceptedDeletionsOptions;
  #current: MassDeletionAcceptance | undefined;

  constructor(options: AcceptedDeletionsOptions) {
    this.#options = options;
  }

  /** The id of the last acceptance that is over. Until then, the next watcher applies it again. */
  get used(): string {
    const { podController, nodeController, usedBefore } = this.#options;
    if (!this.#current) return usedBefore;
    const isOver = podController.accepted.length === 0 && !nodeController.isAccepted;
    return isOver ? this.#current.id : usedBefore;
  }

  /** Reads the annotations of the Lease. */
  read(annotations: UntypedJson): void {
    const { podController, nodeController, usedBefore, log } = this.#options;
    const accepted = parseAcceptance(asText(annotations[acceptanceAnnotation]));
    if (!accepted || accepted.id === usedBefore || accepted.id === this.#current?.id) return;
    this.#current = accepted;
    const { pods, nodes, reason } = accepted;
    log.warn({ pods, nodes, reason }, 'an operator accepted a mass deletion');
    podController.acceptMassDeletion(pods, reason);
    nodeController.acceptMassDeletion(nodes);
  }
}
