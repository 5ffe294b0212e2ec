/** GET /api/v1/alarms. */
import type { Reply } from './page.ts';

export interface Alarm {
  /** The alert of docs/runbooks.md that has the remedy. */
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** The object of the alarm: "Subnet lan"; '' for the ledger. */
  readonly about: string;
  readonly subnet: string;
  readonly address: string;
  readonly since: string;
  readonly message: string;
  /** The runbook as paragraphs of plain text; numbered steps are lines "1. …". */
  readonly remedy: readonly string[];
}

export interface AlarmList extends Reply {
  readonly items: readonly Alarm[];
}
