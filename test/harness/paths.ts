/** Where things stand in the checkout. */
import { join, resolve } from 'node:path';

/** The checkout. */
export const root = resolve(import.meta.dirname, '..', '..');

/** Everything that is built, fetched or left running; not in git. */
export const cacheFolder = join(root, '.cache');

/** Programs built from test/tools. */
export const builtFolder = join(cacheFolder, 'bin');

/** What the project itself builds: the CNI plugin `kube-ovn`. */
export const distFolder = join(cacheFolder, 'dist');

/** The CustomResourceDefinitions that the project brings along. */
export const crdFolder = join(root, 'deploy', 'crds');
