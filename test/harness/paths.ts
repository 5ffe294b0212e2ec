/** Folders of the checkout. */
import { join, resolve } from 'node:path';

/** The root of the checkout. */
export const root = resolve(import.meta.dirname, '..', '..');

/** Built programs and data of background servers. Not in git. */
export const cacheFolder = join(root, '.cache');

/** Programs built from test/tools. */
export const builtFolder = join(cacheFolder, 'bin');

/** Build output of the project: the CNI plugin `kube-ovn`. */
export const distFolder = join(cacheFolder, 'dist');

/** The CustomResourceDefinitions of the project. */
export const crdFolder = join(root, 'deploy', 'crds');
