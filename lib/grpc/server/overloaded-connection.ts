/** The end of a connection whose client sends more than the server holds for it. */
import { constants, type ServerHttp2Session } from 'node:http2';

/**
 * Ends a connection with its calls. The client reports OVERLOADED for each.
 *
 * Passes null as the error: for undefined, Node sends code 0, and clients report an internal error.
 */
export const endOverloaded = (session: ServerHttp2Session): void =>
  session.destroy(null as unknown as undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
