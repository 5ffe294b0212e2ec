/** GET /api/v1/search?q=TEXT: at most 50 hits. */
import type { Reply } from './page.ts';

export interface SearchHit {
  readonly kind: 'subnet' | 'address' | 'pod' | 'node' | 'owner' | 'mac' | 'container';
  /** The text to show. */
  readonly title: string;
  /** Details, for example the Pod that has the address; '' without details. */
  readonly detail: string;
  readonly subnet: string;
  readonly address: string;
  readonly namespace: string;
  /** The name of the Pod, node or owner. */
  readonly name: string;
  /** The kind of an owner. */
  readonly ownerKind: string;
  /** The newest event about the object; 0 if unknown. */
  readonly seq: number;
}

export interface SearchReply extends Reply {
  readonly items: readonly SearchHit[];
}
