/** POST /api/v1/actions/preview and /api/v1/actions. */
import type { ReplyPosition } from './page.ts';

export const actionKinds = ['reserve', 'unreserve', 'release', 'quarantine', 'unquarantine'] as const;
export type ActionKind = (typeof actionKinds)[number];

export interface ActionRequest {
  readonly kind: ActionKind;
  readonly subnet: string;
  readonly address: string;
  /** 1 to 500 characters; the record keeps it. */
  readonly reason: string;
  /** The owner of a reservation, for example "vip/web". */
  readonly reservedFor?: string;
  /** The allocation to release, which the preview named. Another allocation is not released. */
  readonly allocationSeq?: number;
}

export interface ActionPreview {
  readonly position: ReplyPosition;
  /** Whether the action is possible in the present state of the ledger. */
  readonly possible: boolean;
  /** Sentences about what will happen, or why the action is not possible. */
  readonly effects: readonly string[];
  /** Sentences to read before the action: a Pod keeps running without its address, and so on. */
  readonly warnings: readonly string[];
  readonly command: string;
  /** The allocation of the preview, to be sent with the action. */
  readonly allocationSeq: number;
}

export interface ActionResult {
  readonly position: ReplyPosition;
  readonly text: string;
}
