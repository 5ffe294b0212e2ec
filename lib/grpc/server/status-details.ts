/** The text of a gRPC status. */

/**
 * Returns at most `max` characters of a message. A cut, or a request, may leave half of a surrogate pair. grpc-js throws on such a
 * text while it sends the status, which would end the program: the half is replaced.
 */
export const statusDetails = (message: string, max: number): string =>
  (message.length > max ? `${message.slice(0, max)} … (shortened)` : message).toWellFormed();
