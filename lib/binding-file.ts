/**
 * The format of a binding file, in which a node agent stores the addresses of one container
 * interface. `ipledger recover` reads copies of these files.
 */
import * as z from 'zod';
import { checkShape } from './check-shape.ts';

/** The most files in one folder. */
export const maxBindingFiles = 20_000;
export const maxBindingFileBytes = 16 << 10;

const text = z.string().max(1024);
const schema = z.object({
  version: z.literal(1),
  namespace: text.min(1),
  pod: text.min(1),
  podUid: text,
  provider: text.min(1),
  containerId: text.min(1),
  interface: text.min(1),
  node: text.min(1),
  bootId: text.min(1),
  addresses: z.array(text).max(64),
  netns: text.default(''),
  netnsFolder: text.default(''),
  boundAs: text.default(''),
  isDeleted: z.boolean().default(false),
  isPending: z.boolean().default(false),
  epoch: z.number().int().nonnegative(),
});

export type BindingFile = z.output<typeof schema>;

export const bindingFileName = (binding: { readonly containerId: string; readonly interface: string }): string =>
  `${binding.containerId}@${binding.interface}.json`;

/** @throws Error for a text that is no binding, or is of another file name */
export function parseBindingFile(name: string, content: string): BindingFile {
  const { success, data: binding, error } = checkShape(schema, JSON.parse(content));
  const [issue] = error?.issues ?? [];
  if (!success) throw new Error(`${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'it is no binding'}`);
  if (bindingFileName(binding) !== name) throw new Error(`${name} has the binding of ${bindingFileName(binding)}`);
  return binding;
}
