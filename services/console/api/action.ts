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
  /** For reserve: the owner, for example "vip/web". */
  readonly reservedFor?: string;
  /** For release: the allocation that the preview named. Another one is not released. */
  readonly allocationSeq?: number;
}

export interface ActionPreview {
  readonly position: ReplyPosition;
  /** Whether it can be done as the ledger is now. */
  readonly possible: boolean;
  /** What will happen, or why it cannot: sentences. */
  readonly effects: readonly string[];
  /** What should be read before: a Pod keeps running without its address, and so on. */
  readonly warnings: readonly string[];
  readonly command: string;
  /** Send it back with the action. */
  readonly allocationSeq: number;
}

export interface ActionResult {
  readonly position: ReplyPosition;
  readonly text: string;
}
