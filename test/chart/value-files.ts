/** The value files that the checks render: those of deploy/, and some for the other choices. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';

export const valueFiles = globSync(['deploy/*/values.yaml', 'test/chart/values/*.yaml'], {
  cwd: root,
  exclude: ['deploy/chart/**'],
})
  .sort()
  .map((file) => join(root, file));
