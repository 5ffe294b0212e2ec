/**
 * Parses a kubeconfig in YAML. It is a module of its own, which is loaded when it is needed:
 * `import('yaml')` has no named exports in a bundle, because the package is CommonJS.
 */
import { parse } from 'yaml';

/** @throws Error when the text is not valid */
export const parseYaml = (text: string): unknown => parse(text) as unknown;
