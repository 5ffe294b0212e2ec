/** Shortens a text to a number of bytes. What is cut is the middle: errors begin with what failed, and end with what to do. */

const mark = Buffer.from(' … ', 'utf8');
/** The part of the room that the end gets. */
const endShare = 0.45;

/** Returns a text of at most `maxBytes` of UTF-8, between whole characters. */
export function cutMiddle(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  const room = Math.max(0, maxBytes - mark.length);
  const endBytes = Math.floor(room * endShare);
  let headEnd = room - endBytes;
  while (headEnd > 0 && isContinuation(bytes[headEnd])) headEnd--;
  let endStart = bytes.length - endBytes;
  while (endStart < bytes.length && isContinuation(bytes[endStart])) endStart++;
  return `${bytes.toString('utf8', 0, headEnd)}${mark.toString()}${bytes.toString('utf8', endStart)}`;
}

/** A byte 10xxxxxx continues a character. */
const isContinuation = (byte = 0): boolean => (byte & 0xc0) === 0x80;
