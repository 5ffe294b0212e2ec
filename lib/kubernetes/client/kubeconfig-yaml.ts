/**
 * Parses a kubeconfig in YAML. It is a separate module that is loaded on demand, because
 * `import('yaml')` has no named exports in a bundle: the package is CommonJS.
 */
import { parse } from 'yaml';

/** @throws Error when the text is not valid */
export const parseYaml = (text: string): unknown => parse(text, { logLevel: 'error' }) as unknown;
