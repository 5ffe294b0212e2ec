/** Formats an answer as YAML. Imported when an answer is printed as YAML: see answer.ts. */
import { stringify } from 'yaml';

/** YAML that YAML 1.1 readers parse alike: without quotes, 52:54:00:12:34:56 is a number for them, and a time is not a string. */
export const formatYaml = (content: unknown): string => stringify(content, { compat: 'yaml-1.1' });
