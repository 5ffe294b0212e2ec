/** Describes why nothing can be written to the ledger. */
import type { WriteObstacle } from '../../proto/generated/ipledger.ts';

export const describeObstacle = (
  { message, since }: WriteObstacle,
  formatInstant: (instant: string) => string,
): string => `since ${formatInstant(since)}: ${message}`;
