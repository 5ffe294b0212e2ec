/** The list of dashboards. */
import type { Dashboard } from './dashboard.ts';
import { ledger } from './ledger.ts';
import { node } from './node.ts';
import { ovn } from './ovn.ts';
import { overview } from './overview.ts';
import { subnet } from './subnet.ts';

export const dashboards: readonly Dashboard[] = [overview, subnet, node, ledger, ovn];
