/** Shortens texts to a number of bytes of UTF-8, between whole characters. */

const mark = Buffer.from(' … ', 'utf8');
/** The share of the kept text that comes from its end. */
const endShare = 0.45;

/** Cuts a text in its middle: errors begin with what failed, and end with what to do. */
export function cutMiddle(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  const room = Math.max(0, maxBytes - mark.length);
  const endBytes = Math.floor(room * endShare);
  let endStart = bytes.length - endBytes;
  while (endStart < bytes.length && isContinuation(bytes[endStart])) endStart++;
  return `${beginningOf(bytes, room - endBytes)}${mark.toString()}${bytes.toString('utf8', endStart)}`;
}

/** Returns at most `maxBytes` of a text. A truncated text ends with "…". */
export function truncateUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  return bytes.length <= maxBytes ? text : `${beginningOf(bytes, maxBytes - Buffer.byteLength('…'))}…`;
}

function beginningOf(bytes: Buffer, maxBytes: number): string {
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

/** Whether a byte (10xxxxxx) continues a character. */
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
